// PortCounts: the ports of the subnet by what is wrong with their tables, for metrics.
#pragma once

#include "sm/verify/desired_keys.h"
#include "sm/verify/port_observations.h"
#include "sm/verify/port_requests.h"

#include <cstddef>

namespace ibpod::sm::verify {

struct PortCounts {
  size_t ports = 0;    // total
  size_t missing = 0;  // lacking a key
  size_t foreign = 0;  // with a key that no partition assigns
  size_t unseen = 0;   // named by a partition, but not found
  bool operator==(const PortCounts&) const = default;
};

// Call after the verdicts of a full scan have been applied: they change the requests.
PortCounts count_ports(const PortObservations& observations, const PortRequests& requests,
                       const DesiredKeys& desired);

}  // namespace ibpod::sm::verify
