#include "tests/support/fake_node.h"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace ibpod::fake {
namespace {

constexpr uint16_t kEthernet = 1;     // ARPHRD_ETHER
constexpr uint16_t kInfiniband = 32;  // ARPHRD_INFINIBAND
constexpr uint32_t kFirstQpn = 0x40;

netns::Identity identity_of(int id) {
  return {.device = 4,
          .inode = 4026531840U + static_cast<uint64_t>(id),
          .cookie = static_cast<uint64_t>(id) + 1};
}

// The path under which a search through all processes finds it.
Path held_path(int id) { return "/proc/self/fd/" + std::to_string(id); }

Interface plain_netdev(const std::string& kind, uint32_t mtu) {
  Interface made;
  made.kind = kind;
  made.mtu = mtu;
  return made;
}

void put_guid(nl::HardwareAddress& address, ib::Guid guid) {
  for (int shift = 56; shift >= 0; shift -= 8)
    address.push_back(static_cast<uint8_t>(guid.value() >> shift));
}

// RFC 4391 section 9.1.1: flags and QPN, then the GID.
nl::HardwareAddress hardware_address(uint32_t qpn, ib::Guid guid) {
  nl::HardwareAddress address{0, static_cast<uint8_t>(qpn >> 16), static_cast<uint8_t>(qpn >> 8),
                              static_cast<uint8_t>(qpn)};
  put_guid(address, ib::Guid(0xfe80000000000000));
  put_guid(address, guid);
  return address;
}

// RFC 4391 section 4: the broadcast group names its P_Key.
nl::HardwareAddress broadcast_address(ib::PKey key) {
  const auto high = static_cast<uint8_t>(key.value() >> 8);
  const auto low = static_cast<uint8_t>(key.value());
  return {0, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, high, low,
          0, 0,    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff};
}

}  // namespace

FakeNode::FakeNode() {
  NetNamespace host;
  host.identity = identity_of(kHostId);
  state.namespaces.emplace(kHostId, std::move(host));
  insert(kHostId, "lo", plain_netdev("", 65536)).up = true;
}

// --- namespaces

node::Namespace FakeNode::make_namespace(const Path& path) {
  for (auto& [id, other] : state.namespaces) {
    if (other.path == path) other.path.reset();
  }
  const int id = ++state.last_namespace.value;
  NetNamespace made;
  made.path = path;
  made.identity = identity_of(id);
  state.namespaces.emplace(id, made);
  insert(id, "lo", plain_netdev("", 65536));
  insert(id, "eth0", plain_netdev("veth", 1500)).up = true;
  return {path, made.identity};
}

// In the kernel's order: first the RDMA devices go to the host, which makes their netdevs again
// there, then the remaining netdevs (ipoib_link_ops.netns_refund). Virtual devices are deleted.
void FakeNode::kill_namespace(const Path& path) { kill_namespace(id_of(path)); }

void FakeNode::kill_namespace(const netns::Identity& identity) {
  for (const auto& [id, known] : state.namespaces) {
    if (known.identity == identity) return kill_namespace(id);
  }
  throw std::out_of_range("no such namespace");
}

void FakeNode::kill_namespace(int id) {
  for (const FoundRdma& found : rdma_devices_of()) {
    if (found.where != id) continue;
    const std::string fallback = "ibdev" + std::to_string(found.device->id.value);
    const bool conflict = rdma_names_per_namespace && rdma_taken(kHostId, found.name);
    move_rdma_device(found, kHostId, conflict ? fallback : found.name);
  }
  const Interfaces left = std::move(namespace_of(id).interfaces);
  state.namespaces.erase(id);
  for (const auto& [name, interface] : left) {
    if (interface.kind == "ipoib") send_home(name, interface);
  }
}

void FakeNode::send_home(const std::string& name, Interface interface) {
  set_down(interface);
  interface.addresses.clear();
  const std::string fallback = "dev" + std::to_string(static_cast<int>(interface.index.value));
  insert(kHostId, taken(kHostId, name) ? fallback : name, std::move(interface));
}

void FakeNode::hide_namespace(const Path& path, HeldBy holder) {
  NetNamespace& hidden = namespace_of(id_of(path));
  hidden.path.reset();
  hidden.found = holder == HeldBy::process;
}

int FakeNode::id_of(const Path& path) const {
  if (path.empty()) return kHostId;
  for (const auto& [id, where] : state.namespaces) {
    if (where.path == path) return id;
  }
  throw std::out_of_range(path.string());
}

Result<int> FakeNode::id_of(const node::Namespace& where) const {
  if (where.is_host()) return kHostId;
  for (const auto& [id, known] : state.namespaces) {
    const bool leads_there = known.path == where.path || where.path == held_path(id);
    if (leads_there && known.identity == where.identity) return id;
  }
  return Error(Code::not_found, where.path.string() + ": the namespace is gone");
}

NetNamespace& FakeNode::namespace_of(int id) { return state.namespaces.at(id); }

std::vector<node::Namespace> FakeNode::all_found() const {
  std::vector<node::Namespace> all;
  for (const auto& [id, known] : state.namespaces) {
    if (id != kHostId && known.found) all.push_back({held_path(id), known.identity});
  }
  return all;
}

void FakeNode::add_queue_pairs_of(Id rdma, std::vector<uint32_t>& numbers) const {
  for (const auto& [where, known] : state.namespaces) {
    for (const auto& [name, interface] : known.interfaces) {
      const bool of_it = interface.kind == "ipoib" && interface.rdma.value == rdma.value;
      if (of_it) numbers.push_back(interface.qpn.value);
    }
  }
}

// --- interfaces

void FakeNode::add_netdev(const Path& where, const std::string& name, nl::IfIndex index) {
  Interface made = plain_netdev("veth", 1500);
  made.index.value = index;
  insert(id_of(where), name, std::move(made));
}

void FakeNode::add_child(const Path& where, const std::string& parent, const std::string& name,
                         ib::PKey key) {
  const Interface& above = interface(where, parent);
  Interface child;
  child.kind = "ipoib";
  child.mtu = port_mtu;  // until it joins its broadcast group
  child.function = above.function;
  child.rdma = above.rdma;
  child.parent = above.id;
  child.pkey = ib::PKey(key.value() | 0x8000);
  child.guid = above.guid;
  insert(id_of(where), name, std::move(child));
}

void FakeNode::rename_netdev(const Path& where, const std::string& from, const std::string& to) {
  Interfaces& interfaces = namespace_of(id_of(where)).interfaces;
  auto node = interfaces.extract(from);
  if (node.empty() || taken(id_of(where), to)) throw std::out_of_range(from);
  node.key() = to;
  interfaces.insert(std::move(node));
}

// Only a PF's netdev takes an address, and only another GUID (ipoib_netdev_ops_vf,
// ipoib_check_lladdr: linux/drivers/infiniband/ulp/ipoib/ipoib_main.c).
Status FakeNode::set_address(const Path& where, const std::string& name,
                             const nl::HardwareAddress& address) {
  Interface& netdev = interface(where, name);
  if (!netdev.function || function_state(*netdev.function).pf) {
    return Error::from_errno(EOPNOTSUPP, "set the address");
  }
  const nl::HardwareAddress now = link(name, netdev).address;
  const std::optional<ib::Guid> guid = nl::guid_of(address);
  if (!guid || guid->value() == 0 || !std::equal(now.begin(), now.begin() + 12, address.begin())) {
    return Error::from_errno(EINVAL, "set the address");
  }
  netdev.guid.value = *guid;
  return ok();
}

Interface& FakeNode::interface(const Path& where, const std::string& name) {
  return namespace_of(id_of(where)).interfaces.at(name);
}

Interface& FakeNode::insert(int where, const std::string& name, Interface interface) {
  NetNamespace& target = namespace_of(where);
  const auto same_index = [&](const auto& entry) {
    return entry.second.index.value == interface.index.value;
  };
  const bool conflict = std::any_of(target.interfaces.begin(), target.interfaces.end(), same_index);
  // A netdev keeps its index when it moves, unless that is in use there.
  if (interface.index.value == nl::IfIndex{} || conflict) {
    interface.index.value = nl::IfIndex{++target.last_index.value};
  }
  target.last_index.value =
      std::max(target.last_index.value, static_cast<int>(interface.index.value));
  if (interface.id.value == 0) {
    interface.id = new_id();
    interface.qpn.value = kFirstQpn + queue_pairs_[interface.function.value_or(ib::PciAddress())]++;
  }
  return target.interfaces.insert_or_assign(name, std::move(interface)).first->second;
}

Interface* FakeNode::find_interface(int where, const std::string& name, std::string* found) {
  for (auto& [own, interface] : namespace_of(where).interfaces) {
    if (own != name && !interface.altnames.contains(name)) continue;
    if (found != nullptr) *found = own;
    return &interface;
  }
  return nullptr;
}

bool FakeNode::taken(int where, const std::string& name) {
  return find_interface(where, name) != nullptr;
}

Result<FakeNode::Found> FakeNode::find_netdev_by(int where, nl::IfIndex index) {
  for (auto& [name, interface] : namespace_of(where).interfaces) {
    if (interface.index.value == index) return Found{where, name, &interface};
  }
  return Error::from_errno(ENODEV, "interface " + std::to_string(static_cast<int>(index)));
}

std::optional<FakeNode::Found> FakeNode::find_by_id(Id id) {
  for (auto& [where, known] : state.namespaces) {
    for (auto& [name, interface] : known.interfaces) {
      if (interface.id.value == id.value) return Found{where, name, &interface};
    }
  }
  return std::nullopt;
}

std::string FakeNode::lowest_free(int where, const std::string& prefix) {
  for (int i = 0;; ++i) {
    std::string name = prefix + std::to_string(i);
    if (!taken(where, name)) return name;
  }
}

Status FakeNode::rename(int where, const std::string& from, const std::string& to) {
  if (from == to) return ok();
  if (namespace_of(where).interfaces.at(from).up && !renames_while_up)
    return Error::from_errno(EBUSY, "rename " + from);
  if (to.empty() || to.size() > 15 || to.find('/') != to.npos)
    return Error::from_errno(EINVAL, "rename " + from);
  // Its own altnames count too.
  if (taken(where, to)) return Error::from_errno(EEXIST, "rename " + from + " to " + to);
  auto node = namespace_of(where).interfaces.extract(from);
  node.key() = to;
  namespace_of(where).interfaces.insert(std::move(node));
  return ok();
}

// Moves first and renames then, as one RTM_NEWLINK does. The new name is looked at before the move
// only where the old one is taken in the target (__dev_change_net_namespace, linux/net/core/dev.c).
Status FakeNode::move(const Found& what, int to, const std::string& name) {
  if (to == what.where) return rename(to, what.name, name);
  const Error taken_there = Error::from_errno(EEXIST, "move " + what.name);
  const std::string first = taken(to, what.name) ? name : what.name;
  if (taken(to, first)) return taken_there;
  for (const std::string& altname : what.interface->altnames) {
    if (taken(to, altname)) return taken_there;
  }
  auto node = namespace_of(what.where).interfaces.extract(what.name);
  set_down(node.mapped());
  node.mapped().addresses.clear();
  insert(to, first, std::move(node.mapped()));
  return rename(to, first, name);
}

// IPv4 addresses stay; IPv6 ones and all routes go.
void FakeNode::set_down(Interface& interface) {
  interface.up = false;
  interface.joined.value = false;
  interface.routes.clear();
  interface.duplicates.clear();
  std::erase_if(interface.addresses,
                [](const ip::Prefix& prefix) { return prefix.address.family() == ip::Family::v6; });
}

void FakeNode::remove_interface(Id id) {
  const std::optional<Found> found = find_by_id(id);
  if (!found) return;
  namespace_of(found->where).interfaces.erase(found->name);
  remove_children_of(id);
}

// In every namespace.
void FakeNode::remove_children_of(Id parent) {
  for (auto& [where, known] : state.namespaces) {
    std::erase_if(known.interfaces, [&](const auto& entry) {
      return entry.second.parent && entry.second.parent->value == parent.value;
    });
  }
}

nl::Link FakeNode::link(const std::string& name, const Interface& interface) {
  nl::Link link;
  link.index = interface.index.value;
  link.name = name;
  link.altnames.assign(interface.altnames.begin(), interface.altnames.end());
  link.alias = interface.alias;
  link.up = interface.up;
  link.mtu = interface.mtu;
  link.kind = interface.kind;
  link.carrier = has_carrier(interface);
  link.type = interface.kind == "ipoib" ? kInfiniband : kEthernet;
  const auto master = interface.master ? find_by_id(*interface.master) : std::nullopt;
  if (master) link.master = master->interface->index.value;
  if (interface.kind != "ipoib") return link;
  link.address = hardware_address(interface.qpn.value, interface.guid.value);
  ib::PKey key = interface.pkey;
  if (!interface.parent)
    key = ib::PKey(rdma_by_id(interface.rdma).port.value.pkeys.front().value() | 0x8000);
  link.broadcast = broadcast_address(key);
  link.ipoib = nl::Ipoib{key, interface.mode, interface.umcast};
  if (!interface.parent) return link;
  if (const auto parent = find_by_id(*interface.parent))
    link.parent = parent->interface->index.value;
  return link;
}

bool FakeNode::has_carrier(const Interface& interface) {
  if (interface.kind != "ipoib") return interface.up;
  if (!interface.up || !interface.joined.value) return false;
  const RdmaDevice& device = rdma_by_id(interface.rdma);
  if (device.deaf) return false;  // it cannot ask to join
  const ib::Port& port = device.port.value;
  const bool member =
      !interface.parent || ib::find_in(port.pkeys, ib::PKey(interface.pkey.partition()));
  return port.state == ib::PortState::active && member;
}

}  // namespace ibpod::fake
