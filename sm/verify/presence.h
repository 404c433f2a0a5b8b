// Questions to the readings and scans about a port: its presence on the subnet, and its keys.
#pragma once

#include "sm/verify/port_observations.h"

#include <string>

namespace ibpod::sm::verify {

// True if the last scan is complete, of our own subnet, and has found no port with this GUID.
bool is_absent(const PortObservations& observations, ib::Guid port);
// False only if a full scan has shown that the port is not on the subnet.
bool may_be_present(const PortObservations& observations, ib::Guid port);
// True if neither the prober nor the node has read the port's table.
bool is_silent(const PortObservations& observations, ib::Guid port);
// True if a reading of the port or of its switch port, or the node's report, shows the P_Key.
bool is_known_to_hold(const PortObservations& observations, ib::Guid port, ib::PKey pkey);
// The fault if the scanned subnet lacks the subnet manager's port; empty: no fault.
std::string wrong_subnet(const PortObservations& observations);

}  // namespace ibpod::sm::verify
