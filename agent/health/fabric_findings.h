// What `ibpodctl doctor` is told of the node's fabrics: services that are not reached, certificates
// that cannot be used, devices at whose ports no partition could be bound.
#pragma once

#include "agent/health/node_finding.h"
#include "agent/sm_client/fabrics.h"
#include "agent/snapshot/snapshot.h"

#include <chrono>

namespace ibpod::agent::health {

NodeFindings certificate_findings(
    const std::map<std::string, sm_client::NodeCertificate>& certificates);
NodeFindings service_findings(const std::map<std::string, sm_client::SmStatus>& sm_statuses,
                              const std::map<std::string, sm_client::SmStatusTimes>& times);
// Of devices in pools, and where there are no pools of all VFs. What its service or certificate
// has is told by the two above.
// `looked`: when the devices were looked at; `heard`: when the services said which ports they know.
NodeFindings device_findings(const snapshot::Snapshot& snapshot,
                             std::chrono::system_clock::time_point looked,
                             std::chrono::system_clock::time_point heard);

}  // namespace ibpod::agent::health
