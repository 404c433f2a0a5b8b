#include "device-plugin/health.h"

#include "lib/base/join.h"
#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::device_plugin {
namespace {

using Finding = std::optional<std::string>;

bool is_vfio(const Device& device) { return device.driver && node::is_vfio(*device.driver); }

// True if its RDMA devices are checked: they exist for us, and no pod has them.
bool checks_rdma(const Device& device, const HealthCriteria& criteria) {
  return criteria.rdma && !is_vfio(device) && device.attachment.empty();
}

// The same of its ports, which an IPoIB interface needs, too.
bool checks_ports(const Device& device, const HealthCriteria& criteria) {
  if (checks_rdma(device, criteria)) return true;
  const bool ipoib = device.link_type != "ether" && device.driver && !is_vfio(device);
  return ipoib && device.attachment.empty();
}

std::string port_words(const RdmaDevice& device, size_t index) {
  return "port " + std::to_string(index + 1) + " of " + device.name;
}

Finding find_quarantine(const Device& device) {
  if (device.quarantine.empty()) return {};
  return "it is in quarantine: " + device.quarantine;
}

Finding find_shared_mode(const Device& device, const HealthCriteria& criteria,
                         std::optional<nl::RdmaNetnsMode> mode) {
  if (!criteria.isolation || !criteria.rdma || is_vfio(device)) return {};
  if (mode == nl::RdmaNetnsMode::exclusive) return {};
  if (!mode)
    return "the node's RDMA namespace mode cannot be read, and its pool promises isolation";
  return "the node's RDMA namespace mode is shared, and its pool promises isolation";
}

Finding find_no_rdma(const Device& device, const HealthCriteria& criteria) {
  if (!checks_ports(device, criteria)) return {};
  if (!device.rdma_error.empty()) return "its RDMA devices cannot be read: " + device.rdma_error;
  if (device.rdma.empty()) return "it has no RDMA device";
  return {};
}

Finding find_no_char_device(const Device& device, const HealthCriteria& criteria) {
  if (!checks_rdma(device, criteria)) return {};
  const auto& names = device.char_devices;
  const bool there = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("uverbs");
  });
  if (there) return {};
  return "it has no uverbs device: load ib_uverbs";
}

// If RDMA is promised, a pod may do without an interface.
Finding find_no_interface(const Device& device, const HealthCriteria& criteria) {
  if (criteria.rdma || !checks_ports(device, criteria) || !device.netdevs.empty()) return {};
  return "it has no IPoIB interface in the host's namespace: load ib_ipoib";
}

Finding find_no_guid(const Device& device, const HealthCriteria& criteria) {
  if (!checks_ports(device, criteria)) return {};
  for (const RdmaDevice& rdma : device.rdma) {
    if (!rdma.verbs) continue;
    if (rdma.node_guid.none()) return rdma.name + " has no node GUID";
    // The GID of an Ethernet port follows its netdev, and is none while that is down.
    if (device.link_type == "ether") continue;
    for (size_t i = 0; i < rdma.ports.size(); ++i) {
      const ib::Port& port = rdma.ports[i];
      if (port.state != ib::PortState::unknown && port.guid.none()) {
        return port_words(rdma, i) + " has no GUID";
      }
    }
  }
  return {};
}

Finding find_pf_down(const Device& device, const HealthCriteria& criteria) {
  if (criteria.ignore_link || device.pf_up) return {};
  if (!device.pf) return "none of its ports has a link";
  return "the PF " + device.pf->text() + " has no link";
}

Finding find_not_active(const Device& device, const HealthCriteria& criteria) {
  if (criteria.ignore_link || !checks_ports(device, criteria)) return {};
  std::string states;
  for (const RdmaDevice& rdma : device.rdma) {
    for (size_t i = 0; i < rdma.ports.size() && rdma.verbs; ++i) {
      const ib::PortState state = rdma.ports[i].state;
      if (state == ib::PortState::active || state == ib::PortState::active_defer) return {};
      add_item(states, ", ", port_words(rdma, i) + " is " + std::string(ib::name(state)));
    }
  }
  return states.empty() ? "it has no port" : states;
}

Finding find_unbound(const Device& device, const HealthCriteria& criteria, BindFault::Kind kind) {
  const auto& fault = device.bind_fault;
  return criteria.partition_required && fault && fault->kind == kind ? Finding(fault->text)
                                                                     : Finding();
}

}  // namespace

std::string_view name(UnhealthyReason unhealthy_reason) {
  switch (unhealthy_reason) {
    case UnhealthyReason::quarantine:
      return "quarantine";
    case UnhealthyReason::no_driver:
      return "noDriver";
    case UnhealthyReason::shared_mode:
      return "sharedMode";
    case UnhealthyReason::no_rdma_device:
      return "noRdmaDevice";
    case UnhealthyReason::no_char_device:
      return "noCharDevice";
    case UnhealthyReason::no_interface:
      return "noInterface";
    case UnhealthyReason::no_guid:
      return "noGuid";
    case UnhealthyReason::pf_down:
      return "pfDown";
    case UnhealthyReason::port_not_active:
      return "portNotActive";
    case UnhealthyReason::wrong_subnet:
      return "wrongSubnet";
    case UnhealthyReason::no_certificate:
      return "noCertificate";
    case UnhealthyReason::no_sm_service:
      return "noSmService";
    case UnhealthyReason::unknown_guid:
      return "unknownGuid";
  }
  return "unknown";
}

Health evaluate_health(const Device& device, const HealthCriteria& criteria,
                       std::optional<nl::RdmaNetnsMode> mode) {
  const Finding no_driver = device.driver ? Finding() : Finding("no driver is bound to it");
  const std::pair<UnhealthyReason, Finding> findings[] = {
      {UnhealthyReason::quarantine, find_quarantine(device)},
      {UnhealthyReason::no_driver, no_driver},
      {UnhealthyReason::shared_mode, find_shared_mode(device, criteria, mode)},
      {UnhealthyReason::no_rdma_device, find_no_rdma(device, criteria)},
      {UnhealthyReason::no_char_device, find_no_char_device(device, criteria)},
      {UnhealthyReason::no_interface, find_no_interface(device, criteria)},
      {UnhealthyReason::no_guid, find_no_guid(device, criteria)},
      {UnhealthyReason::pf_down, find_pf_down(device, criteria)},
      {UnhealthyReason::port_not_active, find_not_active(device, criteria)},
      {UnhealthyReason::wrong_subnet, find_unbound(device, criteria, BindFault::Kind::subnet)},
      {UnhealthyReason::no_certificate,
       find_unbound(device, criteria, BindFault::Kind::certificate)},
      {UnhealthyReason::no_sm_service, find_unbound(device, criteria, BindFault::Kind::service)},
      {UnhealthyReason::unknown_guid, find_unbound(device, criteria, BindFault::Kind::guid)},
  };
  for (const auto& [unhealthy_reason, finding] : findings) {
    if (finding) return Health{unhealthy_reason, *finding};
  }
  return {};
}

}  // namespace ibpod::device_plugin
