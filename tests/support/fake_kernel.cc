#include "tests/support/fake_kernel.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace ibpod::fake {
namespace {

constexpr uint32_t kSmallestMtu = 68;
constexpr uint32_t kLargestDatagramMtu = 4092;
constexpr uint32_t kBroadcastMtu = 2044;  // the broadcast group's: more is taken and has no effect
constexpr uint32_t kConnectedMtu = 65520;

bool contains(const ip::Prefix& prefix, const ip::Address& address) {
  if (prefix.address.family() != address.family()) return false;
  for (size_t bit = 0; bit < prefix.length; ++bit) {
    const int mask = 0x80 >> (bit % 8);
    if (((prefix.address.bytes()[bit / 8] ^ address.bytes()[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

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

template <typename Work>
auto FakeKernel::call(const char* what, Sort sort, Work work) -> decltype(work()) {
  if (sort == Sort::order) trail_.emplace_back(what);
  if (!strikes(sort)) return work();
  if (fault_.when == When::after_effect) {
    const auto done = work();
    if (!done && fault_.kind == Fault::fail) return done;  // it has failed by itself
  }
  if (fault_.kind == Fault::kill) throw Killed{};
  return Error::from_errno(EIO, what);
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
  return asked("wait_for_change", [&]() -> Result<bool> { return wait(deadline); });
}

// --- questions

Result<std::optional<node::Function>> FakeKernel::function(const ib::PciAddress& address) {
  return asked("function", [&]() -> Result<std::optional<node::Function>> {
    const auto found = state.functions.find(address);
    if (found == state.functions.end()) return std::optional<node::Function>();
    node::Function function{address, found->second.pf, found->second.vf, found->second.driver, {}};
    for (const auto& [name, device] : state.rdma) {
      if (device.function != address) continue;
      for (const char* kind : {"issm", "umad", "uverbs"}) {
        function.char_devices.push_back(kind + std::to_string(device.minor.value));
      }
    }
    std::sort(function.char_devices.begin(), function.char_devices.end());
    return std::optional(function);
  });
}

Result<nl::RdmaNetnsMode> FakeKernel::rdma_netns_mode() {
  return asked("rdma_netns_mode", [&]() -> Result<nl::RdmaNetnsMode> { return state.rdma_mode; });
}

Result<std::optional<node::Namespace>> FakeKernel::find_namespace(const Path& path) {
  return asked("find_namespace", [&]() -> Result<std::optional<node::Namespace>> {
    for (const auto& [id, known] : state.namespaces) {
      if (known.path == path) return std::optional(node::Namespace{path, known.identity});
    }
    return std::optional<node::Namespace>();
  });
}

Result<std::optional<node::Netdev>> FakeKernel::find_netdev(const node::Namespace& where,
                                                            const std::string& name) {
  return asked("find_netdev", [&]() -> Result<std::optional<node::Netdev>> {
    const int id = TRY(id_of(where));
    std::string own;
    const Interface* found = find_interface(id, name, &own);
    if (found == nullptr) return std::optional<node::Netdev>();
    return std::optional(link(own, *found));
  });
}

Result<std::vector<node::Netdev>> FakeKernel::netdevs(const node::Namespace& where,
                                                      const ib::PciAddress& function) {
  return asked("netdevs", [&]() -> Result<std::vector<node::Netdev>> {
    const int id = TRY(id_of(where));
    std::vector<node::Netdev> found;
    for (const auto& [name, interface] : namespace_of(id).interfaces) {
      // A child whose parent is elsewhere cannot be told from anybody's.
      const bool at_home = !interface.parent || find_by_id(*interface.parent)->where == id;
      if (interface.function == function && at_home) found.push_back(link(name, interface));
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    return found;
  });
}

Result<std::vector<node::RdmaDevice>> FakeKernel::rdma_devices(const node::Namespace& where,
                                                               const ib::PciAddress& function) {
  return asked("rdma_devices", [&]() -> Result<std::vector<node::RdmaDevice>> {
    const int id = TRY(id_of(where));
    std::vector<node::RdmaDevice> found;
    for (const auto& [name, device] : state.rdma) {
      const bool seen = device.home == id || state.rdma_mode == nl::RdmaNetnsMode::shared;
      if (seen && device.function == function)
        found.push_back({name, device.node_guid.value, device.port_guid.value});
    }
    return found;
  });
}

Result<RdmaDevice*> FakeKernel::find_rdma(const node::Namespace& where, const std::string& name) {
  const int id = TRY(id_of(where));
  const auto found = state.rdma.find(name);
  const bool seen = found != state.rdma.end() &&
                    (found->second.home == id || state.rdma_mode == nl::RdmaNetnsMode::shared);
  if (!seen) return Error(Code::not_found, "there is no RDMA device " + name);
  return &found->second;
}

Result<ib::Port> FakeKernel::port(const node::Namespace& where, const std::string& rdma_device) {
  return asked("port", [&]() -> Result<ib::Port> {
    RdmaDevice* const device = TRY(find_rdma(where, rdma_device));
    return FakeNode::port(*device);
  });
}

// Through the PF's netdev, and nothing else.
Result<PciFunction*> FakeKernel::vf_under_pf(const node::Function& vf) {
  if (!vf.pf) return Error(Code::invalid, vf.address.text() + " is no VF");
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
  return asked("vf_settings", [&]() -> Result<nl::VfSettings> {
    if (!tells_vf_settings)
      return Error(Code::unsupported, "this kernel cannot tell of so many VFs");
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
  return asked("addresses", [&]() -> Result<std::vector<nl::LinkAddress>> {
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

// --- orders about VFs and RDMA devices

Status FakeKernel::set_vf_guids(const node::Function& vf, ib::Guid node, ib::Guid port) {
  return ordered("set_vf_guids", [&]() -> Status {
    if (node.value() == 0 || port.value() == 0) return Error::from_errno(EINVAL, "GUID 0");
    PciFunction* const told = TRY(vf_under_pf(vf));
    told->node_guid.value = node;
    told->port_guid.value = port;
    return ok();
  });
}

Status FakeKernel::set_vf_policy(const node::Function& vf, nl::LinkPolicy policy) {
  return ordered("set_vf_policy", [&]() -> Status {
    PciFunction* const told = TRY(vf_under_pf(vf));
    told->policy = policy;
    apply_policy(vf.address);
    return ok();
  });
}

Status FakeKernel::set_driver(const ib::PciAddress& function,
                              const std::optional<std::string>& driver) {
  return ordered("set_driver", [&]() -> Status {
    if (driver) return bind(function, *driver);
    if (state.functions.contains(function)) unbind(function);
    return ok();
  });
}

Status FakeKernel::move_rdma(const node::Namespace& from, const std::string& device,
                             const node::Namespace& to) {
  return ordered("move_rdma", [&]() -> Status {
    RdmaDevice* const found = TRY(find_rdma(from, device));
    const int target = TRY(id_of(to));
    if (state.rdma_mode == nl::RdmaNetnsMode::shared)
      return Error::from_errno(EOPNOTSUPP, "move " + device);
    move_rdma_device(*found, target);
    return ok();
  });
}

Status FakeKernel::rename_rdma(const node::Namespace& where, const std::string& device,
                               const std::string& name) {
  return ordered("rename_rdma", [&]() -> Status {
    TRY(find_rdma(where, device));
    if (device == name) return ok();
    if (name.empty()) return Error::from_errno(EINVAL, "rename " + device);
    if (state.rdma.contains(name)) return Error::from_errno(EEXIST, "rename " + device);
    auto node = state.rdma.extract(device);
    node.key() = name;
    state.rdma.insert(std::move(node));
    return ok();
  });
}

// --- orders about netdevs

Status FakeKernel::move_netdev(const node::Namespace& from, nl::IfIndex netdev,
                               const node::Namespace& to, const std::string& name) {
  return ordered("move_netdev", [&]() -> Status {
    const int source = TRY(id_of(from));
    const int target = TRY(id_of(to));
    const Found found = TRY(find_netdev_by(source, netdev));
    return move(found, target, name);
  });
}

Status FakeKernel::change_altnames(const Found& netdev, const std::set<std::string>& wanted) {
  std::set<std::string>& altnames = netdev.interface->altnames;
  std::erase_if(altnames, [&](const std::string& altname) { return !wanted.contains(altname); });
  for (const std::string& altname : wanted) {
    if (altnames.contains(altname)) continue;
    if (taken(netdev.where, altname))
      return Error::from_errno(EEXIST, "add the altname " + altname);
    altnames.insert(altname);
  }
  return ok();
}

void FakeKernel::change_mode(Interface& interface, const node::NetdevChange& change) {
  if (interface.kind != "ipoib") return;
  if (change.umcast) interface.umcast = *change.umcast;
  if (!change.mode || *change.mode == interface.mode) return;
  interface.mode = *change.mode;
  interface.mtu = interface.mode == nl::IpoibMode::connected ? kConnectedMtu : kBroadcastMtu;
}

Status FakeKernel::change_mtu(Interface& interface, uint32_t mtu) {
  const bool datagram = interface.kind == "ipoib" && interface.mode == nl::IpoibMode::datagram;
  const uint32_t largest = datagram ? kLargestDatagramMtu : kConnectedMtu;
  if (mtu < kSmallestMtu || mtu > largest) return Error::from_errno(EINVAL, "set the MTU");
  interface.mtu = datagram ? std::min(mtu, kBroadcastMtu) : mtu;
  return ok();
}

// Only a PF's netdev takes an address, and only another GUID (ipoib_netdev_ops_vf,
// ipoib_check_lladdr: linux/drivers/infiniband/ulp/ipoib/ipoib_main.c).
Status FakeKernel::change_address(const Found& netdev, const nl::HardwareAddress& address) {
  Interface& interface = *netdev.interface;
  if (!interface.function || function_state(*interface.function).pf) {
    return Error::from_errno(EOPNOTSUPP, "set the address");
  }
  const nl::HardwareAddress now = link(netdev.name, interface).address;
  const std::optional<ib::Guid> guid = nl::guid_of(address);
  if (!guid || guid->value() == 0 || !std::equal(now.begin(), now.begin() + 12, address.begin())) {
    return Error::from_errno(EINVAL, "set the address");
  }
  interface.guid.value = *guid;
  return ok();
}

Status FakeKernel::change_netdev(const node::Namespace& where, nl::IfIndex netdev,
                                 const node::NetdevChange& change) {
  return ordered("change_netdev", [&]() -> Status {
    const int id = TRY(id_of(where));
    Found found = TRY(find_netdev_by(id, netdev));
    Interface& interface = *found.interface;
    if (change.up == false) set_down(interface);
    if (change.altnames)
      TRY(change_altnames(found, {change.altnames->begin(), change.altnames->end()}));
    if (change.name) TRY(rename(id, found.name, *change.name));
    change_mode(interface, change);
    if (change.mtu) TRY(change_mtu(interface, *change.mtu));
    if (change.address)
      TRY(change_address({id, change.name.value_or(found.name), &interface}, *change.address));
    if (change.up == true) interface.up = true;
    return ok();
  });
}

// The kernel removes children; asked to remove a device's own netdev it does nothing and says
// nothing (ipoib_del_child_link, linux/drivers/infiniband/ulp/ipoib/ipoib_netlink.c).
Status FakeKernel::remove_netdev(const node::Namespace& where, nl::IfIndex netdev) {
  return ordered("remove_netdev", [&]() -> Status {
    const int id = TRY(id_of(where));
    const Result<Found> found = find_netdev_by(id, netdev);
    if (!found) return ok();
    const bool device_s_own = found->interface->kind == "ipoib" && !found->interface->parent;
    if (!device_s_own) remove_interface(found->interface->id);
    return ok();
  });
}

// --- orders about addresses

Status FakeKernel::set_addresses(Interface& interface, const std::vector<ip::Prefix>& addresses) {
  for (const ip::Prefix& prefix : addresses) {
    const auto same = [&](const ip::Prefix& other) { return other == prefix; };
    if (std::any_of(interface.addresses.begin(), interface.addresses.end(), same)) {
      return Error::from_errno(EEXIST, "add " + prefix.text());
    }
    interface.addresses.push_back(prefix);
    const bool v6 = prefix.address.family() == ip::Family::v6;
    if (v6 && fabric.taken.contains(prefix.address)) interface.duplicates.insert(prefix);
  }
  return ok();
}

// Duplicate address detection: there is none without carrier. Whatever happens in a wait may move
// the netdev or end it.
Status FakeKernel::await_dad(Id netdev, Deadline deadline) {
  const auto is_v6 = [](const ip::Prefix& prefix) {
    return prefix.address.family() == ip::Family::v6;
  };
  bool more = true;
  while (true) {
    const std::optional<Found> found = find_by_id(netdev);
    if (!found) return Error::from_errno(ENODEV, "detect duplicate addresses");
    const Interface& now = *found->interface;
    const bool any = std::any_of(now.addresses.begin(), now.addresses.end(), is_v6);
    if (!any || (has_carrier(now) && now.duplicates.empty())) return ok();
    if (has_carrier(now)) {
      return Error(Code::exists,
                   now.duplicates.begin()->text() + " is in use by somebody else on this link");
    }
    if (!more) return Error(Code::unavailable, "IPv6 duplicate address detection has not finished");
    more = wait(deadline);
  }
}

Status FakeKernel::add_route(Interface& interface, const nl::Route& route) {
  if (!interface.up) return Error::from_errno(ENETDOWN, "add a route");
  const auto same = [&](const nl::Route& other) {
    return other.destination == route.destination && other.table == route.table &&
           other.priority == route.priority;
  };
  if (std::any_of(interface.routes.begin(), interface.routes.end(), same))
    return Error::from_errno(EEXIST, "add a route");
  const auto leads = [&](const ip::Prefix& to) { return contains(to, *route.gateway); };
  const auto leads_directly = [&](const nl::Route& other) {
    return !other.gateway && leads(other.destination);
  };
  const bool reachable =
      !route.gateway ||
      std::any_of(interface.addresses.begin(), interface.addresses.end(), leads) ||
      std::any_of(interface.routes.begin(), interface.routes.end(), leads_directly);
  if (!reachable) return Error::from_errno(ENETUNREACH, "add a route");
  interface.routes.push_back(route);
  return ok();
}

Status FakeKernel::configure(const node::Namespace& where, nl::IfIndex netdev,
                             const node::Addressing& addressing, Deadline deadline) {
  return ordered("configure", [&]() -> Status {
    const int id = TRY(id_of(where));
    const Found found = TRY(find_netdev_by(id, netdev));
    TRY(set_addresses(*found.interface, addressing.addresses));
    TRY(await_dad(found.interface->id, deadline));
    const Found still = TRY(find_netdev_by(id, netdev));
    for (const nl::Route& route : addressing.routes) TRY(add_route(*still.interface, route));
    return ok();
  });
}

// Without carrier the frames are lost, and nobody says so.
Status FakeKernel::announce(const node::Namespace& where, nl::IfIndex netdev,
                            const std::vector<ip::Prefix>& addresses) {
  return ordered("announce", [&]() -> Status {
    const int id = TRY(id_of(where));
    const Found found = TRY(find_netdev_by(id, netdev));
    const node::Netdev now = link(found.name, *found.interface);
    if (!now.up) return Error::from_errno(ENETDOWN, "announce on " + found.name);
    if (!now.carrier) return ok();
    for (const ip::Prefix& prefix : addresses)
      announced.push_back({where, found.name, prefix, now.address});
    return ok();
  });
}

// --- nodes to start from

ib::PciAddress pf_address(unsigned pf) {
  return ib::PciAddress::parse("0000:" + std::string(1, '3') + "bcdef"[pf] + ":00.0").value();
}

ib::PciAddress vf_address(unsigned pf, unsigned vf) {
  const unsigned place = vf + 1;  // device and function behind the PF's
  const std::string device = {"01"[place / 128 % 2], "0123456789abcdef"[place / 8 % 16]};
  const std::string bus = pf_address(pf).text().substr(0, 8);
  return ib::PciAddress::parse(bus + device + "." + std::to_string(place % 8)).value();
}

ib::Guid pf_guid(unsigned pf) { return ib::Guid(0x02005e1000000000 | uint64_t{pf} << 16); }
ib::Guid vf_guid(unsigned pf, unsigned vf) { return ib::Guid(pf_guid(pf).value() + vf + 1); }

namespace {

void add_vfs(FakeKernel& kernel, unsigned pf, unsigned vfs) {
  for (unsigned vf = 0; vf < vfs; ++vf) {
    const ib::PciAddress address = vf_address(pf, vf);
    kernel.add_vf(address, pf_address(pf), vf);
    PciFunction& function = kernel.function_state(address);
    function.node_guid.value = vf_guid(pf, vf);
    function.port_guid.value = vf_guid(pf, vf);
    function.policy = nl::LinkPolicy::automatic;
    if (!kernel.bind(address, "mlx5_core")) std::abort();
    for (auto& [name, interface] : kernel.state.namespaces[kHostId].interfaces) {
      if (interface.function == address)
        interface.altnames = {"ibp" + std::to_string(59 + pf) + "s0v" + std::to_string(vf)};
    }
  }
}

}  // namespace

FakeKernel node_with(unsigned pfs, unsigned vfs) {
  FakeKernel kernel;
  for (unsigned pf = 0; pf < pfs; ++pf) {
    kernel.add_pf(pf_address(pf), pf_guid(pf));
    if (!kernel.bind(pf_address(pf), "mlx5_core")) std::abort();
  }
  for (unsigned pf = 0; pf < pfs; ++pf) add_vfs(kernel, pf, vfs);
  kernel.settle();
  return kernel;
}

FakeKernel one_vf_node() { return node_with(1, 1); }

FakeKernel fresh_vf_node() {
  FakeKernel kernel = node_with(1, 0);
  kernel.add_vf(vf_address(0, 0), pf_address(0), 0);
  if (!kernel.bind(vf_address(0, 0), "mlx5_core")) std::abort();
  return kernel;
}

}  // namespace ibpod::fake
