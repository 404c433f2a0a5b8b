// Tables: the P_Key tables of the subnet's ports, as the steward has them read and written. Behind
// it stands the witness `port` (sm/witness).
#pragma once

#include "sm/witness/reading.h"
#include "sm/witness/repair.h"

#include <set>
#include <vector>

namespace ibpod::sm {

// Orders that return at once. What comes of them is told as Readings.
class Tables {
 public:
  Tables() = default;
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
  Tables(Tables&&) = delete;
  Tables& operator=(Tables&&) = delete;
  virtual ~Tables() = default;

  // These are read at once, and again and again, until a later call does not name them.
  virtual void hurry(std::set<ib::Guid> ports) = 0;
  virtual void repair(std::vector<Repair> repairs) = 0;
  // A sweep of the subnet manager is over.
  virtual void swept() = 0;
};

}  // namespace ibpod::sm
