#include "agent/health/node_findings.h"

#include "lib/base/clock.h"

#include <algorithm>

namespace ibpod::agent::health {
namespace {

// The remedy where the agent tries again by itself. Appended: g++ 12 warns of string + literal in
// an initializer.
std::string with_retry(std::string correct, std::string_view note) {
  return correct.append(": the agent tries again every sweepSeconds").append(note);
}

void add_rdma_mode(const NodeState& node, NodeFindings& findings) {
  const prepare::RdmaModeStatus& mode = node.snapshot.rdma_mode;
  if (mode.matches_config) return;
  findings.push_back({Issue::rdma_mode,
                      {"rdma-netns-mode", mode.text + seen_at(node.times.devices), mode.remedy}});
}

void add_preparation(const NodeState& node, NodeFindings& findings) {
  for (const std::string& trouble : node.snapshot.preparation_errors) {
    findings.push_back(
        {Issue::preparation,
         {"preparation", trouble + seen_at(node.times.preparation),
          "correct this cause on the node or under \"pfs\" in the agent's configuration: the agent "
          "tries again when the file changes, every minute, and when you run doctor"}});
  }
}

void add_quarantined(const gc::GcRun& gc_run, NodeFindings& findings) {
  for (const gc::Outcome& outcome : gc_run.outcomes) {
    if (!outcome.is_quarantined()) continue;
    findings.push_back(
        {Issue::quarantined,
         {outcome.record.text(),
          "waiting for clean-up: " + outcome.text() + seen_at(gc_run.evaluated_at),
          with_retry("correct this cause", "; `ibpodctl attachments` shows the pod")}});
  }
}

void add_address_releases(const gc::GcRun& gc_run, NodeFindings& findings) {
  for (const gc::AddressRelease& one : gc_run.address_releases) {
    if (one.failure.empty()) continue;
    findings.push_back(
        {Issue::address_release,
         {one.name.text(),
          "IPAM has not released its address: " + one.failure + seen_at(gc_run.evaluated_at),
          with_retry("correct the cause of the IPAM error",
                     "; its device is free, and IPAM keeps the address reserved until then")}});
  }
}

// The earliest: a fault does not say of which fabric it is.
RefreshTimes::Time received(const std::map<std::string, sm_client::SmStatusTimes>& times) {
  RefreshTimes::Time earliest = {};
  for (const auto& [fabric, one] : times)
    if (one.last_answered != RefreshTimes::Time())
      earliest = earliest == RefreshTimes::Time() ? one.last_answered
                                                  : std::min(earliest, one.last_answered);
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
    append(service_findings(node.fabrics->sm_statuses(), node.fabrics->sm_status_times()),
           findings);
    append(device_findings(node.snapshot, node.times.devices,
                           received(node.fabrics->sm_status_times())),
           findings);
  }
  add_quarantined(node.gc_run, findings);
  add_address_releases(node.gc_run, findings);
  return findings;
}

}  // namespace ibpod::agent::health
