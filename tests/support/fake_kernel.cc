#include "tests/support/fake_kernel.h"

#include <algorithm>
#include <cerrno>

namespace ibpod::fake {
namespace {

ip::Prefix link_local(ib::Guid guid) {
  // RFC 4391 section 8: the interface identifier is the GUID with the universal bit set.
  const std::string digits = ib::Guid(guid.value() | 0x0200000000000000).text();
  std::string text = "fe80::";
  for (size_t i = 0; i < digits.size(); i += 6) {
    text += (i == 0 ? "" : ":") + digits.substr(i, 2) + digits.substr(i + 3, 2);
  }
  return ip::Prefix::parse(text + "/64").value();
}

}  // namespace

// --- calls and faults

bool FakeKernel::strikes(Sort sort) {
  ++calls_;
  if (fault_.kind == Fault::none || (fault_.count == Count::orders && sort == Sort::question))
    return false;
  const int number = fault_.seen++;
  const bool strikes = number >= fault_.first && number <= fault_.last;
  fault_.struck |= strikes;
  return strikes;
}

bool FakeKernel::wait(Deadline deadline) {
  ++waits_;
  const bool more = !events_.empty();
  if (more) {
    const auto event = std::move(events_.front());
    events_.pop_front();
    event(*this);
  }
  const bool changed = settle();
  return (more || changed) && !deadline.passed();
}

Result<bool> FakeKernel::wait_for_change(Deadline deadline) {
  return count_question("wait_for_change", [&]() -> Result<bool> { return wait(deadline); });
}

// --- questions

Result<std::optional<node::Function>> FakeKernel::function(const ib::PciAddress& address) {
  return count_question("function", [&]() -> Result<std::optional<node::Function>> {
    const auto found = state.functions.find(address);
    if (found == state.functions.end()) return std::optional<node::Function>();
    return std::optional(
        node::Function{address, found->second.pf, found->second.vf, found->second.driver});
  });
}

Result<std::vector<std::string>> FakeKernel::char_devices(const ib::PciAddress& address) {
  return count_question("char_devices", [&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> names;
    for (const FoundRdma& made : rdma_devices_of(address)) {
      for (const char* kind : {"issm", "umad", "uverbs"})
        names.push_back(kind + std::to_string(made.device->minor.value));
    }
    std::sort(names.begin(), names.end());
    return names;
  });
}

Result<nl::RdmaNetnsMode> FakeKernel::rdma_netns_mode() {
  return count_question("rdma_netns_mode",
                        [&]() -> Result<nl::RdmaNetnsMode> { return state.rdma_mode; });
}

Result<std::optional<node::Namespace>> FakeKernel::find_namespace(const Path& path) {
  return count_question("find_namespace", [&]() -> Result<std::optional<node::Namespace>> {
    for (const auto& [id, known] : state.namespaces) {
      if (known.path == path && !covered.contains(path))
        return std::optional(node::Namespace{path, known.identity});
    }
    return std::optional<node::Namespace>();
  });
}

Result<netns::NetnsStatus> FakeKernel::namespace_status(const node::Namespace& recorded) {
  return count_question("look", [&]() -> Result<netns::NetnsStatus> {
    if (covered.contains(recorded.path)) return netns::NetnsStatus::unclear;
    for (const auto& [id, known] : state.namespaces) {
      if (known.path == recorded.path && known.identity == recorded.identity)
        return netns::NetnsStatus::same;
    }
    return netns::NetnsStatus::gone;
  });
}

Result<std::optional<Error>> FakeKernel::each_namespace(Deadline deadline,
                                                        const node::NamespaceVisitor& visit) {
  using All = std::vector<node::Namespace>;
  const All all =
      TRY(count_question("each_namespace", [&]() -> Result<All> { return all_found(); }));
  for (const node::Namespace& where : all) {
    if (deadline.passed()) return std::optional(Error(Code::unavailable, "no time"));
    const bool enough = TRY(visit(where));
    if (enough) break;
  }
  return gap;
}

Result<std::optional<node::Netdev>> FakeKernel::find_netdev(const node::Namespace& where,
                                                            const std::string& name) {
  return count_question("find_netdev", [&]() -> Result<std::optional<node::Netdev>> {
    const int id = TRY(id_of(where));
    std::string own;
    const Interface* found = find_interface(id, name, &own);
    if (found == nullptr) return std::optional<node::Netdev>();
    return std::optional(link(own, *found));
  });
}

Result<std::vector<node::Netdev>> FakeKernel::netdevs(const node::Namespace& where,
                                                      const ib::PciAddress& function) {
  return count_question("netdevs", [&]() -> Result<std::vector<node::Netdev>> {
    const int id = TRY(id_of(where));
    std::vector<node::Netdev> found;
    for (const auto& [name, interface] : namespace_of(id).interfaces) {
      // A child whose parent is in another namespace cannot be distinguished from another pod's.
      const bool at_home = !interface.parent || find_by_id(*interface.parent)->where == id;
      if (interface.function == function && at_home) found.push_back(link(name, interface));
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    return found;
  });
}

Result<std::vector<node::Netdev>> FakeKernel::own_netdevs(const node::Namespace& where,
                                                          const ib::PciAddress& function) {
  std::vector<node::Netdev> found = TRY(netdevs(where, function));
  std::erase_if(found, [](const node::Netdev& netdev) { return netdev.parent.has_value(); });
  return found;
}

Result<std::vector<node::Netdev>> FakeKernel::ipoib_netdevs(const node::Namespace& where) {
  return count_question("ipoib_netdevs", [&]() -> Result<std::vector<node::Netdev>> {
    const int id = TRY(id_of(where));
    std::vector<node::Netdev> found;
    for (const auto& [name, interface] : namespace_of(id).interfaces) {
      if (interface.kind == "ipoib") found.push_back(link(name, interface));
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    return found;
  });
}

Result<std::vector<uint32_t>> FakeKernel::ipoib_queue_pairs(const ib::PciAddress& function) {
  return count_question("ipoib_queue_pairs", [&]() -> Result<std::vector<uint32_t>> {
    std::vector<uint32_t> numbers;
    if (!tells_queue_pairs) return numbers;
    for (const FoundRdma& made : rdma_devices_of(function)) {
      const bool seen = made.where == kHostId || state.rdma_mode == nl::RdmaNetnsMode::shared;
      if (seen) add_queue_pairs_of(made.device->id, numbers);
    }
    return numbers;
  });
}

Result<std::vector<node::RdmaUser>> FakeKernel::rdma_users(const ib::PciAddress& function) {
  return count_question("rdma_users", [&]() -> Result<std::vector<node::RdmaUser>> {
    if (!tells_rdma_users) return Error::from_errno(EINVAL, "list the verbs contexts");
    std::vector<node::RdmaUser> users;
    for (const FoundRdma& made : rdma_devices_of(function)) {
      const bool seen = made.where == kHostId || state.rdma_mode == nl::RdmaNetnsMode::shared;
      if (seen)
        users.insert(users.end(), rdma_users_of[function].begin(), rdma_users_of[function].end());
    }
    return users;
  });
}

// A child hangs on no device in sysfs.
Result<std::optional<ib::PciAddress>> FakeKernel::function_of(const std::string& netdev) {
  return count_question("function_of", [&]() -> Result<std::optional<ib::PciAddress>> {
    const Interfaces& host = namespace_of(kHostId).interfaces;
    const auto found = host.find(netdev);
    if (found == host.end() || found->second.parent) return std::optional<ib::PciAddress>();
    return found->second.function;
  });
}

Result<std::vector<std::string>> FakeKernel::rdma_names(const node::Namespace& where,
                                                        const ib::PciAddress& function) {
  const std::vector<node::RdmaDevice> devices = TRY(rdma_devices(where, function));
  std::vector<std::string> names;
  for (const node::RdmaDevice& device : devices) names.push_back(device.name);
  return names;
}

Result<std::vector<node::RdmaDevice>> FakeKernel::rdma_devices(const node::Namespace& where,
                                                               const ib::PciAddress& function) {
  return count_question("rdma_devices", [&]() -> Result<std::vector<node::RdmaDevice>> {
    const int id = TRY(id_of(where));
    rename_unlistable();
    std::vector<node::RdmaDevice> found;
    for (const auto& [place, name, device] : rdma_devices_of(function)) {
      const bool seen = place == id || state.rdma_mode == nl::RdmaNetnsMode::shared;
      if (seen) found.push_back({name, device->node_guid.value, device->port_guid.value});
    }
    return found;
  });
}

void FakeKernel::rename_unlistable() {
  for (const FoundRdma& found : rdma_devices_of()) {
    if (found.name.find('/') == std::string::npos) continue;
    const std::string first = "rdma" + std::to_string(found.device->id.value);
    std::string free = first;
    while (rdma_taken(found.where, free)) free = first + "_" + std::to_string(++renamed_);
    auto node = namespace_of(found.where).rdma.extract(found.name);
    node.key() = free;
    namespace_of(found.where).rdma.insert(std::move(node));
  }
}

Result<FakeNode::FoundRdma> FakeKernel::find_rdma(const node::Namespace& where,
                                                  const std::string& name) {
  const int id = TRY(id_of(where));
  for (const FoundRdma& found : rdma_devices_of()) {
    const bool seen = found.where == id || state.rdma_mode == nl::RdmaNetnsMode::shared;
    if (seen && found.name == name) return found;
  }
  return Error(Code::not_found, "there is no RDMA device " + name);
}

Result<ib::Port> FakeKernel::port(const node::Namespace& where, const std::string& rdma_device) {
  return count_question("port", [&]() -> Result<ib::Port> {
    const FoundRdma found = TRY(find_rdma(where, rdma_device));
    return FakeNode::port(*found.device);
  });
}

Result<ib::Port> FakeKernel::port_up_to(const node::Namespace& where,
                                        const std::string& rdma_device, ib::PKey partition) {
  ib::Port found = TRY(port(where, rdma_device));
  const auto at = std::find_if(found.pkeys.begin(), found.pkeys.end(), [&](ib::PKey key) {
    return key.same_partition(partition) && key.membership() == ib::Membership::full;
  });
  if (at != found.pkeys.end()) found.pkeys.erase(at + 1, found.pkeys.end());
  return found;
}

// Through the PF's netdev, and nothing else.
Result<PciFunction*> FakeKernel::vf_under_pf(const node::Function& vf) {
  if (!vf.pf) return Error(Code::invalid, vf.address.text() + " is not a VF");
  const Interfaces& host = namespace_of(kHostId).interfaces;
  const auto is_pf = [&](const auto& entry) { return entry.second.function == vf.pf; };
  if (std::none_of(host.begin(), host.end(), is_pf)) {
    return Error(Code::unavailable,
                 "the PF " + vf.pf->text() + " has no IPoIB interface in the host's namespace");
  }
  for (auto& [address, function] : state.functions) {
    if (function.pf == vf.pf && function.vf == vf.vf) return &function;
  }
  return Error::from_errno(EINVAL, "VF " + std::to_string(vf.vf));
}

Result<nl::VfSettings> FakeKernel::vf_settings(const node::Function& vf) {
  return count_question("vf_settings", [&]() -> Result<nl::VfSettings> {
    if (!tells_vf_settings) return Error(Code::unsupported, "this kernel cannot list so many VFs");
    const Result<PciFunction*> found = vf_under_pf(vf);
    if (!found && found.error().error_number() == EINVAL)
      return Error(Code::not_found, "no such VF");
    if (!found) return found.error();
    const PciFunction& told = **found;
    return nl::VfSettings{nl::VfIndex{told.vf}, told.node_guid.value, told.port_guid.value,
                          told.policy};
  });
}

Result<std::vector<nl::LinkAddress>> FakeKernel::addresses(const node::Namespace& where,
                                                           nl::IfIndex netdev) {
  return count_question("addresses", [&]() -> Result<std::vector<nl::LinkAddress>> {
    const int id = TRY(id_of(where));
    std::vector<nl::LinkAddress> all;
    const Result<Found> found = find_netdev_by(id, netdev);
    if (!found) return all;
    const Interface& interface = *found->interface;
    for (const ip::Prefix& prefix : interface.addresses) {
      const bool failed = interface.duplicates.contains(prefix);
      const bool waits = prefix.address.family() == ip::Family::v6 && !has_carrier(interface);
      all.push_back({prefix, failed || waits, failed});
    }
    // The kernel makes it up itself, as soon as there is carrier.
    if (interface.kind == "ipoib" && has_carrier(interface))
      all.push_back({link_local(interface.guid.value)});
    return all;
  });
}

Result<std::vector<nl::Route>> FakeKernel::routes(const node::Namespace& where,
                                                  nl::IfIndex netdev) {
  return count_question("routes", [&]() -> Result<std::vector<nl::Route>> {
    const int id = TRY(id_of(where));
    const Result<Found> found = find_netdev_by(id, netdev);
    return found ? found->interface->routes : std::vector<nl::Route>();
  });
}

Result<node::HostNetwork> FakeKernel::host_network() {
  return count_question("host_network", [&]() -> Result<node::HostNetwork> {
    node::HostNetwork network;
    for (const auto& [name, interface] : namespace_of(kHostId).interfaces) {
      const nl::IfIndex index = interface.index.value;
      network.links.push_back(link(name, interface));
      if (!interface.addresses.empty()) network.addresses[index] = interface.addresses;
      for (const nl::Route& route : interface.routes) {
        if (route.destination.length == 0) network.default_routes.insert(index);
      }
    }
    return network;
  });
}

// --- orders about VFs and RDMA devices

Status FakeKernel::set_vf_guids(const node::Function& vf, ib::Guid node, ib::Guid port) {
  return count_order("set_vf_guids", [&]() -> Status {
    if (node.value() == 0 || port.value() == 0) return Error::from_errno(EINVAL, "GUID 0");
    PciFunction* const told = TRY(vf_under_pf(vf));
    told->node_guid.value = node;
    told->port_guid.value = port;
    return ok();
  });
}

Status FakeKernel::set_vf_policy(const node::Function& vf, nl::LinkPolicy policy) {
  return count_order("set_vf_policy", [&]() -> Status {
    PciFunction* const told = TRY(vf_under_pf(vf));
    told->policy = policy;
    apply_policy(vf.address);
    return ok();
  });
}

Status FakeKernel::set_driver(const ib::PciAddress& function,
                              const std::optional<std::string>& driver) {
  return count_order("set_driver", [&]() -> Status {
    if (driver) return bind(function, *driver);
    if (state.functions.contains(function)) unbind(function);
    return ok();
  });
}

Status FakeKernel::move_rdma(const node::Namespace& from, const std::string& device,
                             const node::Namespace& to) {
  return count_order("move_rdma", [&]() -> Status {
    const FoundRdma found = TRY(find_rdma(from, device));
    const int target = TRY(id_of(to));
    if (state.rdma_mode == nl::RdmaNetnsMode::shared) {
      return Error::from_errno(EOPNOTSUPP, "move " + device);
    }
    if (target != found.where && rdma_names_per_namespace && rdma_taken(target, device)) {
      return Error::from_errno(EEXIST, "move " + device);
    }
    move_rdma_device(found, target, device);
    return ok();
  });
}

Status FakeKernel::rename_rdma(const node::Namespace& where, const std::string& device,
                               const std::string& name) {
  return count_order("rename_rdma", [&]() -> Status {
    const FoundRdma found = TRY(find_rdma(where, device));
    if (device == name) return ok();
    if (name.empty()) return Error::from_errno(EINVAL, "rename " + device);
    if (rdma_taken(found.where, name)) return Error::from_errno(EEXIST, "rename " + device);
    std::map<std::string, RdmaDevice>& devices = namespace_of(found.where).rdma;
    auto node = devices.extract(device);
    node.key() = name;
    devices.insert(std::move(node));
    return ok();
  });
}

}  // namespace ibpod::fake
