#include "agent/health/node_findings.h"

#include "agent/health/fabric_findings.h"
#include "lib/base/seen_at.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

constexpr const char* kTriesAgain = "the agent tries again by itself, every sweepSeconds";

void add_rdma_mode(const NodeState& node, NodeFindings& findings) {
  const RdmaModeVerdict& mode = node.view.rdma_mode;
  if (mode.as_wanted) return;
  findings.push_back({Issue::rdma_mode,
                      {"rdma-netns-mode", mode.text + seen_at(node.times.devices), mode.remedy}});
}

void add_preparation(const NodeState& node, NodeFindings& findings) {
  for (const std::string& trouble : node.view.troubles) {
    findings.push_back(
        {Issue::preparation,
         {"preparation", trouble + seen_at(node.times.preparation),
          "correct what this says, on the node or under \"pfs\" in the agent's configuration: the "
          "agent tries again when the file changes, each minute, and when doctor is run"}});
  }
}

void add_quarantined(const Pass& pass, NodeFindings& findings) {
  for (const Outcome& outcome : pass.outcomes) {
    if (!outcome.quarantined()) continue;
    findings.push_back(
        {Issue::quarantined,
         {outcome.record.text(), "waits for its clean-up: " + outcome.text() + seen_at(pass.seen),
          std::string("correct what this says: ") + kTriesAgain +
              "; `ibpodctl attachments` shows the pod"}});
  }
}

void add_owed(const Pass& pass, NodeFindings& findings) {
  for (const OwedAddresses& one : pass.owed) {
    if (one.failure.empty()) continue;
    findings.push_back(
        {Issue::owed_addresses,
         {one.name.text(), "its address is still owed to IPAM: " + one.failure + seen_at(pass.seen),
          std::string("correct what keeps IPAM from it: ") + kTriesAgain +
              "; its device is free meanwhile, and IPAM does not give the address away"}});
  }
}

// The earliest: a fault does not say of which fabric it is.
LookTimes::Time heard(const std::map<std::string, ContactTimes>& times) {
  LookTimes::Time earliest = {};
  for (const auto& [fabric, one] : times)
    if (one.answered != LookTimes::Time())
      earliest = earliest == LookTimes::Time() ? one.answered : std::min(earliest, one.answered);
  return earliest;
}

void append(NodeFindings more, NodeFindings& findings) {
  for (NodeFinding& one : more) findings.push_back(std::move(one));
}

}  // namespace

NodeFindings node_findings(const NodeState& node) {
  NodeFindings findings;
  add_rdma_mode(node, findings);
  add_preparation(node, findings);
  if (node.fabrics != nullptr) {
    append(certificate_findings(node.fabrics->certificates()), findings);
    append(service_findings(node.fabrics->contacts(), node.fabrics->contact_times()), findings);
    append(device_findings(node.view, node.times.devices, heard(node.fabrics->contact_times())),
           findings);
  }
  add_quarantined(node.pass, findings);
  add_owed(node.pass, findings);
  return findings;
}

}  // namespace ibpod::agent
