#include "tests/support/fake_node.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace ibpod::fake {
namespace {

constexpr uint32_t kDatagramMtu = 2044;  // of a fabric with the IB MTU 2048
constexpr uint16_t kInfiniband = 32;     // ARPHRD_INFINIBAND
constexpr size_t kTableSize = 8;
constexpr uint32_t kFirstQpn = 0x40;

// A test that names what is not there is wrong.
template <typename Map, typename Key>
auto& at(Map& map, const Key& key) {
  const auto found = map.find(key);
  if (found == map.end()) std::abort();
  return found->second;
}

netns::Identity identity_of(int id) {
  return {.device = 4,
          .inode = 4026531840U + static_cast<uint64_t>(id),
          .cookie = static_cast<uint64_t>(id) + 1};
}

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

// In the kernel's order: first the RDMA devices go to the host, which makes their netdevs anew
// there, then what netdevs are left (ipoib_link_ops.netns_refund). Anything virtual dies.
void FakeNode::kill_namespace(const Path& path) {
  const int id = id_of(path);
  for (auto& [name, device] : state.rdma) {
    if (device.home == id) move_rdma_device(device, kHostId);
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

void FakeNode::hide_namespace(const Path& path) { namespace_of(id_of(path)).path.reset(); }

int FakeNode::id_of(const Path& path) const {
  if (path.empty()) return kHostId;
  for (const auto& [id, where] : state.namespaces) {
    if (where.path == path) return id;
  }
  std::abort();  // a test that names what is not there is wrong
}

Result<int> FakeNode::id_of(const node::Namespace& where) const {
  if (where.is_host()) return kHostId;
  for (const auto& [id, known] : state.namespaces) {
    if (known.path == where.path && known.identity == where.identity) return id;
  }
  return Error(Code::not_found, where.path.string() + ": the namespace is gone");
}

NetNamespace& FakeNode::namespace_of(int id) { return at(state.namespaces, id); }

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
  child.mtu = kDatagramMtu;
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
  if (node.empty() || taken(id_of(where), to)) std::abort();
  node.key() = to;
  interfaces.insert(std::move(node));
}

Interface& FakeNode::interface(const Path& where, const std::string& name) {
  return at(namespace_of(id_of(where)).interfaces, name);
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
    interface.qpn.value = kFirstQpn + static_cast<uint32_t>(interface.id.value);
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
  if (at(namespace_of(where).interfaces, from).up && !renames_while_up)
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

// Wherever they are.
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
  link.up = interface.up;
  link.mtu = interface.mtu;
  link.kind = interface.kind;
  link.carrier = has_carrier(interface);
  if (interface.kind != "ipoib") return link;
  link.type = kInfiniband;
  link.address = hardware_address(interface.qpn.value, interface.guid.value);
  ib::PKey key = interface.pkey;
  if (!interface.parent)
    key = ib::PKey(rdma_by_id(interface.rdma)->port.value.pkeys.front().value() | 0x8000);
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
  const ib::Port& port = rdma_by_id(interface.rdma)->port.value;
  const bool member =
      !interface.parent || ib::find_in(port.pkeys, ib::PKey(interface.pkey.partition()));
  return port.state == ib::PortState::active && member;
}

// --- functions and what drivers make of them

PciFunction& FakeNode::function_state(const ib::PciAddress& address) {
  return at(state.functions, address);
}

void FakeNode::add_pf(const ib::PciAddress& address, ib::Guid guid) {
  PciFunction& made = state.functions[address];
  made.made_with.value = guid;
  made.policy = nl::LinkPolicy::automatic;
}

void FakeNode::add_vf(const ib::PciAddress& address, const ib::PciAddress& pf, uint32_t number) {
  PciFunction& made = state.functions[address];
  made.pf = pf;
  made.vf = number;
}

void FakeNode::vanish(const ib::PciAddress& address) {
  unbind(address);
  state.functions.erase(address);
}

Status FakeNode::bind(const ib::PciAddress& address, const std::string& driver) {
  const std::string what = "bind " + address.text() + " to " + driver;
  if (!drivers.contains(driver)) return Error::from_errno(ENOENT, what);
  const auto found = state.functions.find(address);
  if (found == state.functions.end()) return Error::from_errno(ENODEV, what);
  PciFunction& function = found->second;
  if (function.driver) return Error::from_errno(EBUSY, what);
  if (function.pf && !at(state.functions, *function.pf).autoprobe) {
    return Error(Code::unsupported,
                 what + ": sriov_drivers_autoprobe of " + function.pf->text() + " is 0");
  }
  function.driver = driver;
  if (driver == "vfio-pci") return ok();
  for (unsigned i = 0; i < function.rdma_count; ++i) make_rdma_device(address);
  return ok();
}

void FakeNode::unbind(const ib::PciAddress& address) {
  for (const auto& [name, device] : state.rdma) {
    if (device.function == address) remove_netdevs_of(device.id);
  }
  std::erase_if(state.rdma, [&](const auto& entry) { return entry.second.function == address; });
  function_state(address).driver.reset();
}

void FakeNode::make_rdma_device(const ib::PciAddress& address) {
  const PciFunction& function = function_state(address);
  const auto told_or_made = [&](const DeviceGuid& told) {
    return told.value.value() == 0 ? function.made_with : told;
  };
  RdmaDevice device;
  device.id = new_id();
  device.function = address;
  device.node_guid = told_or_made(function.node_guid);
  device.port_guid = told_or_made(function.port_guid);
  device.minor.value = lowest_free_minor();
  device.port.value.state = ib::PortState::down;
  device.port.value.pkeys.assign(kTableSize, ib::PKey());
  device.port.value.pkeys.front() = ib::kDefaultFull;  // as a port is switched on (IBA 10.9.2)
  if (has_link(device)) device.port.value.state = ib::PortState::init;
  make_netdev(state.rdma.emplace(new_rdma_name(), device).first->second, kHostId);
}

std::string FakeNode::new_rdma_name() {
  if (reuses_rdma_names) state.next_rdma_name.value = 0;
  while (true) {
    std::string name = "mlx5_" + std::to_string(state.next_rdma_name.value++);
    if (!state.rdma.contains(name)) return name;
  }
}

void FakeNode::make_netdev(const RdmaDevice& device, int where) {
  Interface made;
  made.kind = "ipoib";
  made.mtu = kDatagramMtu;
  made.function = device.function;
  made.rdma = device.id;
  made.guid = device.port_guid;
  insert(where, lowest_free(where, "ib"), std::move(made));
}

void FakeNode::remove_netdevs_of(Id rdma) {
  for (auto& [where, known] : state.namespaces) {
    std::erase_if(known.interfaces, [&](const auto& entry) {
      return entry.second.kind == "ipoib" && entry.second.rdma.value == rdma.value;
    });
  }
}

// All its users are taken off it and put on again: IPoIB, whose children go with it, and the
// character devices (rdma_dev_change_netns, linux/drivers/infiniband/core/device.c).
void FakeNode::move_rdma_device(RdmaDevice& device, int to) {
  remove_netdevs_of(device.id);
  device.home = to;
  device.minor.value = -1;
  device.minor.value = lowest_free_minor();
  make_netdev(device, ipoib_reappears == IpoibReappears::in_target ? to : kHostId);
}

int FakeNode::lowest_free_minor() const {
  for (int minor = 0;; ++minor) {
    const auto has = [&](const auto& entry) { return entry.second.minor.value == minor; };
    if (std::none_of(state.rdma.begin(), state.rdma.end(), has)) return minor;
  }
}

RdmaDevice* FakeNode::rdma_by_id(Id id) {
  for (auto& [name, device] : state.rdma) {
    if (device.id.value == id.value) return &device;
  }
  std::abort();  // no IPoIB interface outlives its device
}

// --- ports and the subnet manager

ib::Port FakeNode::port(const RdmaDevice& device) const {
  ib::Port port = device.port.value;
  port.guid = device.port_guid.value;
  return port;
}

bool FakeNode::has_link(const RdmaDevice& device) const {
  const PciFunction& function = at(state.functions, device.function);
  return function.policy != nl::LinkPolicy::disable && !device.port_guid.value.none();
}

// A link goes down at once and comes up without an address; the rest is the subnet manager's.
void FakeNode::apply_policy(const ib::PciAddress& vf) {
  for (auto& [name, device] : state.rdma) {
    if (device.function != vf) continue;
    ib::Port& port = device.port.value;
    if (!has_link(device)) port.state = ib::PortState::down;
    if (has_link(device) && port.state == ib::PortState::down) port.state = ib::PortState::init;
  }
}

ib::PKeyTable FakeNode::table_for(ib::Guid guid) const {
  const auto known = fabric.pkeys.find(guid);
  ib::PKeyTable table = known == fabric.pkeys.end() ? fabric.others : known->second;
  table.resize(std::max(kTableSize, table.size()));
  return table;
}

// Two ports of one GUID: OpenSM leaves the second one alone.
bool FakeNode::is_swept(const RdmaDevice& device) const {
  const auto same_port = [&](const auto& entry) {
    const RdmaDevice& other = entry.second;
    return other.id.value != device.id.value && other.port_guid == device.port_guid &&
           other.port.value.state == ib::PortState::active;
  };
  return fabric.sm && has_link(device) &&
         std::none_of(state.rdma.begin(), state.rdma.end(), same_port);
}

bool FakeNode::sweep(RdmaDevice& device) {
  if (!is_swept(device)) return false;
  ib::Port port;
  const auto next = static_cast<ib::Lid>(fabric.lids.size() + 1);
  port.lid = fabric.lids.emplace(device.port_guid.value, next).first->second;
  port.pkeys = table_for(device.port_guid.value);
  port.state = ib::PortState::active;
  return std::exchange(device.port.value, port) != port;
}

bool FakeNode::join(Interface& interface) {
  if (interface.kind != "ipoib") return false;
  const bool had_carrier = has_carrier(interface);
  interface.joined.value = true;
  interface.joined.value = has_carrier(interface);
  return interface.joined.value != had_carrier;
}

bool FakeNode::settle() {
  bool changed = false;
  for (auto& [name, device] : state.rdma) changed |= sweep(device);
  for (auto& [id, where] : state.namespaces) {
    for (auto& [name, interface] : where.interfaces) changed |= join(interface);
  }
  return changed;
}

}  // namespace ibpod::fake
