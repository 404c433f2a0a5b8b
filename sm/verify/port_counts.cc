#include "sm/verify/port_counts.h"

namespace ibpod::sm::verify {

PortCounts count_ports(const PortObservations& observations, const PortRequests& requests,
                       const DesiredKeys& desired) {
  PortCounts counts;
  counts.ports = observations.topology().ports().size();
  for (const auto& [port, observation] : observations.ports()) {
    const TableFinding finding = observations.finding(port, requests.changed_in(port), desired);
    counts.missing += finding.diff.missing.empty() ? 0 : 1;
    counts.foreign += finding.diff.foreign.empty() ? 0 : 1;
    counts.unseen += finding.kind == TableFinding::Kind::unseen ? 1 : 0;
  }
  return counts;
}

}  // namespace ibpod::sm::verify
