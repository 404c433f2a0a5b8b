#include "device-plugin/health.h"

#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::device_plugin {
namespace {

using Finding = std::optional<std::string>;

bool is_vfio(const Device& device) { return device.driver && node::is_vfio(*device.driver); }

// Whether its RDMA devices are to be judged: they exist for us, and no pod has them.
bool has_rdma_to_judge(const Device& device, const Promise& promise) {
  return promise.rdma && !is_vfio(device) && device.attachment.empty();
}

// The same of its ports, which an IPoIB interface needs, too.
bool has_ports_to_judge(const Device& device, const Promise& promise) {
  if (has_rdma_to_judge(device, promise)) return true;
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

Finding find_shared_mode(const Device& device, const Promise& promise,
                         std::optional<nl::RdmaNetnsMode> mode) {
  if (!promise.isolation || !promise.rdma || is_vfio(device)) return {};
  if (mode == nl::RdmaNetnsMode::exclusive) return {};
  if (!mode)
    return "the node's RDMA namespace mode cannot be read, and its pool promises isolation";
  return "the node's RDMA namespace mode is shared, and its pool promises isolation";
}

Finding find_no_rdma(const Device& device, const Promise& promise) {
  if (!has_ports_to_judge(device, promise)) return {};
  if (!device.unseen.empty()) return "its RDMA devices cannot be looked at: " + device.unseen;
  if (device.rdma.empty()) return "it has no RDMA device";
  return {};
}

Finding find_no_char_device(const Device& device, const Promise& promise) {
  if (!has_rdma_to_judge(device, promise)) return {};
  const auto& names = device.char_devices;
  const bool there = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("uverbs");
  });
  if (there) return {};
  return "it has no uverbs device: is ib_uverbs loaded?";
}

// Where RDMA is promised, a pod may do without an interface.
Finding find_no_interface(const Device& device, const Promise& promise) {
  if (promise.rdma || !has_ports_to_judge(device, promise) || !device.netdevs.empty()) return {};
  return "it has no IPoIB interface in the host's namespace: is ib_ipoib loaded?";
}

Finding find_no_guid(const Device& device, const Promise& promise) {
  if (!has_ports_to_judge(device, promise)) return {};
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

Finding find_pf_down(const Device& device, const Promise& promise) {
  if (promise.ignore_link || device.pf_up) return {};
  if (!device.pf) return "none of its ports has a link";
  return "the PF " + device.pf->text() + " has no link";
}

Finding find_not_active(const Device& device, const Promise& promise) {
  if (promise.ignore_link || !has_ports_to_judge(device, promise)) return {};
  std::string states;
  for (const RdmaDevice& rdma : device.rdma) {
    for (size_t i = 0; i < rdma.ports.size() && rdma.verbs; ++i) {
      const ib::PortState state = rdma.ports[i].state;
      if (state == ib::PortState::active || state == ib::PortState::active_defer) return {};
      states += (states.empty() ? "" : ", ") + port_words(rdma, i) + " is " +
                std::string(ib::name(state));
    }
  }
  return states.empty() ? "it has no port" : states;
}

Finding find_unbound(const Device& device, const Promise& promise, BindFault::Kind kind) {
  const auto& fault = device.bind_fault;
  return promise.bound && fault && fault->kind == kind ? Finding(fault->text) : Finding();
}

}  // namespace

std::string_view name(Ailment ailment) {
  switch (ailment) {
    case Ailment::quarantine:
      return "quarantine";
    case Ailment::no_driver:
      return "noDriver";
    case Ailment::shared_mode:
      return "sharedMode";
    case Ailment::no_rdma_device:
      return "noRdmaDevice";
    case Ailment::no_char_device:
      return "noCharDevice";
    case Ailment::no_interface:
      return "noInterface";
    case Ailment::no_guid:
      return "noGuid";
    case Ailment::pf_down:
      return "pfDown";
    case Ailment::port_not_active:
      return "portNotActive";
    case Ailment::wrong_subnet:
      return "wrongSubnet";
    case Ailment::no_certificate:
      return "noCertificate";
    case Ailment::no_sm_service:
      return "noSmService";
    case Ailment::unknown_guid:
      return "unknownGuid";
  }
  return "unknown";
}

Verdict judge(const Device& device, const Promise& promise, std::optional<nl::RdmaNetnsMode> mode) {
  const Finding no_driver = device.driver ? Finding() : Finding("no driver is bound to it");
  const std::pair<Ailment, Finding> findings[] = {
      {Ailment::quarantine, find_quarantine(device)},
      {Ailment::no_driver, no_driver},
      {Ailment::shared_mode, find_shared_mode(device, promise, mode)},
      {Ailment::no_rdma_device, find_no_rdma(device, promise)},
      {Ailment::no_char_device, find_no_char_device(device, promise)},
      {Ailment::no_interface, find_no_interface(device, promise)},
      {Ailment::no_guid, find_no_guid(device, promise)},
      {Ailment::pf_down, find_pf_down(device, promise)},
      {Ailment::port_not_active, find_not_active(device, promise)},
      {Ailment::wrong_subnet, find_unbound(device, promise, BindFault::Kind::subnet)},
      {Ailment::no_certificate, find_unbound(device, promise, BindFault::Kind::certificate)},
      {Ailment::no_sm_service, find_unbound(device, promise, BindFault::Kind::service)},
      {Ailment::unknown_guid, find_unbound(device, promise, BindFault::Kind::guid)},
  };
  for (const auto& [ailment, finding] : findings) {
    if (finding) return Verdict{ailment, *finding};
  }
  return {};
}

}  // namespace ibpod::device_plugin
