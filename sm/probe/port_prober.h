// Tables: the P_Key tables of the subnet's ports, to be read and written. Behind it stands the
// witness `port` (TableWatch).
#pragma once

#include "sm/probe/probe_result.h"
#include "sm/probe/repair.h"

#include <set>
#include <vector>

namespace ibpod::sm::probe {

// Orders that return at once, from any thread. What comes of them is told as Readings.
class PortProber {
 public:
  PortProber() = default;
  PortProber(const PortProber&) = delete;
  PortProber& operator=(const PortProber&) = delete;
  PortProber(PortProber&&) = delete;
  PortProber& operator=(PortProber&&) = delete;
  virtual ~PortProber() = default;

  // What has not converged, all of it: read at once if the last call did not name it, and again and
  // again until a later call no longer does.
  virtual void poll(std::set<ib::Guid> ports) = 0;
  // Written as soon as the port has been seen to be there and the block to be as it was said; what
  // is there then is reported.
  virtual void repair(std::vector<Repair> repairs) = 0;
  // A sweep of the subnet manager is over: what is hurried is read at once.
  virtual void swept() = 0;
  // A look at all ports now.
  virtual void rescan() = 0;
};

}  // namespace ibpod::sm::probe
