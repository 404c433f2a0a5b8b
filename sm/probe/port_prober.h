// PortProber: reads and writes the P_Key tables of the subnet's ports. SmpPortProber implements it
// (proof `port`).
#pragma once

#include "sm/probe/probe_result.h"
#include "sm/probe/repair.h"

#include <set>
#include <vector>

namespace ibpod::sm::probe {

// All functions return at once, and are thread-safe. Results come as ProbeBatch.
class PortProber {
 public:
  PortProber() = default;
  PortProber(const PortProber&) = delete;
  PortProber& operator=(const PortProber&) = delete;
  PortProber(PortProber&&) = delete;
  PortProber& operator=(PortProber&&) = delete;
  virtual ~PortProber() = default;

  // Sets all ports that have not converged. A new one is read at once; all are read again until a
  // later call omits them.
  virtual void poll(std::set<ib::Guid> ports) = 0;
  // Writes a block if the port is present and the block is as the repair expects; then reports the
  // port's tables.
  virtual void repair(std::vector<Repair> repairs) = 0;
  // A sweep of the subnet manager is over: polled ports are read at once.
  virtual void swept() = 0;
  // Starts a full scan now.
  virtual void rescan() = 0;
};

}  // namespace ibpod::sm::probe
