// The agent's findings about its node for `ibpodctl doctor`: all problems, each with its remedy.
#pragma once

#include "agent/gc/gc_run.h"
#include "agent/health/node_finding.h"
#include "agent/sm_client/fabrics.h"
#include "agent/snapshot/snapshot.h"

#include <chrono>

namespace ibpod::agent::health {

// When the agent has last looked; the epoch: not yet. What it reads at the question has no time.
struct RefreshTimes {
  using Time = std::chrono::system_clock::time_point;
  Time devices = {};      // devices, ports and the RDMA namespace mode
  Time preparation = {};  // that was tried
};

// The agent's knowledge at the time of the call.
struct NodeState {
  const snapshot::Snapshot& snapshot;
  const gc::GcRun& gc_run;  // the last sweep's
  const RefreshTimes& times;
  // Null where the node has no fabrics.
  const sm_client::Fabrics* fabrics;
};

// Each with a remedy, and with the time of the look that has shown it.
NodeFindings node_findings(const NodeState& node);

NodeFindings certificate_findings(
    const std::map<std::string, sm_client::NodeCertificate>& certificates);
NodeFindings service_findings(const std::map<std::string, sm_client::SmStatus>& sm_statuses,
                              const std::map<std::string, sm_client::SmStatusTimes>& times);
// Findings about devices in pools, and without pools about all VFs. Those about the service or the
// certificate are made by the two functions above. `looked`: when the devices were observed;
// `heard`: when the services reported which ports they know.
NodeFindings device_findings(const snapshot::Snapshot& snapshot,
                             std::chrono::system_clock::time_point looked,
                             std::chrono::system_clock::time_point heard);

}  // namespace ibpod::agent::health
