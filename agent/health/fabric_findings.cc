#include "agent/health/node_findings.h"
#include "lib/base/clock.h"

#include <set>

namespace ibpod::agent::health {
namespace {

using device_plugin::BindFault;
using device_plugin::Device;
using Time = std::chrono::system_clock::time_point;

// Those that a pod could be given.
std::vector<const Device*> pool_devices_of(const snapshot::Snapshot& snapshot) {
  std::vector<const Device*> devices;
  for (const device_plugin::PoolContents& contents : snapshot.pool_contents)
    for (const device_plugin::PoolDevice& pool_device : contents.devices)
      devices.push_back(&pool_device.device);
  if (!snapshot.pools.empty()) return devices;
  for (const Device& device : snapshot.devices)
    if (device.pf) devices.push_back(&device);
  return devices;
}

std::string remedy_of(const Device& device, BindFault::Kind kind) {
  if (kind == BindFault::Kind::subnet)
    return "correct subnetPrefix under \"fabrics\" in the agent's configuration and restart the "
           "agent, or correct the cabling; a PF without RDMA device: load its driver";
  const std::string key = device.pf ? "guids" : "pfs";
  const std::string name =
      "name it under nodes.NODE." + key + " in ibpod-sm's configuration, and restart ibpod-sm";
  if (!device.pf) return name + "; or set pfsByFirstClaim there";
  return "give the VF a GUID of the pool: \"force\": true in the entry of \"pfs\" that has its PF, "
         "while no pod has the VF; or " +
         name;
}

std::string remedy_for(const sm_client::NodeCertificate& one) {
  if (one.is_token)
    return "check the projected volume of the agent's pod that has " + one.file.string() +
           ", and the file of the CA: the agent uses them at once, without a restart";
  return "issue a new certificate for this node, and replace " + one.file.string() +
         " and its key: the agent uses them at once, without a restart; check the clock: date -u";
}

}  // namespace

NodeFindings certificate_findings(
    const std::map<std::string, sm_client::NodeCertificate>& certificates) {
  NodeFindings findings;
  for (const auto& [fabric, one] : certificates) {
    if (one.state) continue;
    const Status& why = one.usable ? one.state : one.usable;
    findings.push_back(
        {Issue::certificate,
         {"certificate",
          (one.is_token ? "cannot use this node's token for the SM service of fabric "
                        : "cannot use this node's certificate for the SM service of fabric ") +
              fabric + ": " + why.error().text(),
          remedy_for(one)}});
  }
  return findings;
}

NodeFindings service_findings(const std::map<std::string, sm_client::SmStatus>& sm_statuses,
                              const std::map<std::string, sm_client::SmStatusTimes>& times) {
  NodeFindings findings;
  for (const auto& [fabric, sm_status] : sm_statuses) {
    if (sm_status.error.empty()) continue;
    const auto time = times.find(fabric);
    const std::string seen = time == times.end() ? "" : seen_at(time->second.last_asked);
    const std::string service = "the SM service of fabric " + fabric;
    if (sm_status.refused)
      findings.push_back(
          {Issue::sm_service,
           {"sm-service", service + " refuses this node: " + sm_status.error + seen,
            "check the node's name and certificate, and the rules in ibpod-sm's configuration that "
            "match them; ibpod-sm's audit log has the refusal, too"}});
    else
      findings.push_back(
          {Issue::sm_service,
           {"sm-service", service + " cannot be reached: " + sm_status.error + seen,
            "check that ibpod-sm runs there, and its log; until it can be reached, pods with a "
            "partition on that fabric wait for it"}});
  }
  return findings;
}

NodeFindings device_findings(const snapshot::Snapshot& snapshot, Time looked, Time heard) {
  NodeFindings findings;
  std::set<std::string> told;  // what is wrong with a PF is told once
  for (const Device* device : pool_devices_of(snapshot)) {
    const std::optional<BindFault>& fault = device->bind_fault;
    const bool of_port =
        fault && (fault->kind == BindFault::Kind::subnet || fault->kind == BindFault::Kind::guid);
    if (!of_port || !told.insert(fault->text).second) continue;
    const bool of_pf = fault->kind == BindFault::Kind::subnet;
    const ib::PciAddress subject = of_pf ? device->pf.value_or(device->address) : device->address;
    findings.push_back(
        {of_pf ? Issue::wrong_subnet : Issue::unknown_guid,
         {subject.text(),
          "no partition can be bound: " + fault->text + seen_at(of_pf ? looked : heard),
          remedy_of(*device, fault->kind)}});
  }
  return findings;
}

}  // namespace ibpod::agent::health
