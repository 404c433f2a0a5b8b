// The part of FakeNode that is about PCI functions, RDMA devices, their ports and the subnet
// manager.
#include "tests/support/fake_node.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace ibpod::fake {
namespace {

constexpr size_t kTableSize = 8;

// The GUID that a driver reads when it binds a function whose PF was configured with `told`.
DeviceGuid read_guid(const PciFunction& function, const DeviceGuid& told) {
  return told.value.value() == 0 ? function.made_with : told;
}

}  // namespace

// --- functions and what drivers make of them

PciFunction& FakeNode::function_state(const ib::PciAddress& address) {
  return state.functions.at(address);
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
  if (function.pf && !state.functions.at(*function.pf).autoprobe) {
    return Error(Code::unsupported,
                 what + ": sriov_drivers_autoprobe of " + function.pf->text() + " is 0");
  }
  function.driver = driver;
  if (driver == "vfio-pci") return ok();
  if (function.pf)
    bound.push_back({address, read_guid(function, function.node_guid),
                     read_guid(function, function.port_guid)});
  for (unsigned i = 0; i < function.rdma_count; ++i) make_rdma_device(address);
  return ok();
}

void FakeNode::unbind(const ib::PciAddress& address) {
  for (const FoundRdma& found : rdma_devices_of(address)) {
    remove_netdevs_of(found.device->id);
    namespace_of(found.where).rdma.erase(found.name);
  }
  rdma_users_of.erase(address);
  function_state(address).driver.reset();
}

void FakeNode::make_rdma_device(const ib::PciAddress& address) {
  const PciFunction& function = function_state(address);
  RdmaDevice device;
  device.id = new_id();
  device.function = address;
  device.node_guid = read_guid(function, function.node_guid);
  device.port_guid = read_guid(function, function.port_guid);
  device.minor.value = lowest_free_minor();
  device.deaf = caller_is_dying;
  device.port.value.state = ib::PortState::down;
  device.port.value.pkeys.assign(kTableSize, ib::PKey());
  device.port.value.pkeys.front() = ib::kDefaultFull;  // as a port is switched on (IBA 10.9.2)
  if (has_link(device)) device.port.value.state = ib::PortState::init;
  make_netdev(namespace_of(kHostId).rdma.emplace(new_rdma_name(), device).first->second, kHostId);
}

std::string FakeNode::new_rdma_name() {
  if (reuses_rdma_names) state.next_rdma_name.value = 0;
  while (true) {
    std::string name = "mlx5_" + std::to_string(state.next_rdma_name.value++);
    if (!rdma_taken(kHostId, name)) return name;
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
void FakeNode::move_rdma_device(const FoundRdma& what, int to, const std::string& name) {
  remove_netdevs_of(what.device->id);
  auto node = namespace_of(what.where).rdma.extract(what.name);
  node.key() = name;
  RdmaDevice& device = namespace_of(to).rdma.insert(std::move(node)).position->second;
  device.deaf = caller_is_dying;
  device.minor.value = -1;
  device.minor.value = lowest_free_minor();
  make_netdev(device, ipoib_reappears == IpoibReappears::in_target ? to : kHostId);
}

int FakeNode::lowest_free_minor() {
  const std::vector<FoundRdma> all = rdma_devices_of();
  for (int minor = 0;; ++minor) {
    const auto has = [&](const FoundRdma& found) { return found.device->minor.value == minor; };
    if (std::none_of(all.begin(), all.end(), has)) return minor;
  }
}

std::vector<FakeNode::FoundRdma> FakeNode::rdma_devices_of(
    const std::optional<ib::PciAddress>& function) {
  std::vector<FoundRdma> all;
  for (auto& [id, where] : state.namespaces) {
    for (auto& [name, device] : where.rdma) {
      if (!function || device.function == *function) all.push_back({id, name, &device});
    }
  }
  return all;
}

RdmaDevice& FakeNode::rdma_by_id(Id id) {
  for (const FoundRdma& found : rdma_devices_of()) {
    if (found.device->id.value == id.value) return *found.device;
  }
  std::abort();  // no IPoIB interface outlives its device
}

bool FakeNode::rdma_taken(int where, const std::string& name) {
  const std::vector<FoundRdma> all = rdma_devices_of();
  return std::any_of(all.begin(), all.end(), [&](const FoundRdma& found) {
    return found.name == name && (found.where == where || !rdma_names_per_namespace);
  });
}

// --- ports and the subnet manager

ib::Port FakeNode::port(const RdmaDevice& device) const {
  ib::Port port = device.port.value;
  port.guid = device.port_guid.value;
  return port;
}

bool FakeNode::has_link(const RdmaDevice& device) const {
  const PciFunction& function = state.functions.at(device.function);
  return function.policy != nl::LinkPolicy::disable && !device.port_guid.value.none();
}

// A link goes down at once and comes up without an address; the rest is the subnet manager's.
void FakeNode::apply_policy(const ib::PciAddress& vf) {
  for (const FoundRdma& found : rdma_devices_of(vf)) {
    const RdmaDevice& device = *found.device;
    ib::Port& port = found.device->port.value;
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
bool FakeNode::is_swept(const RdmaDevice& device) {
  const std::vector<FoundRdma> all = rdma_devices_of();
  const auto same_port = [&](const FoundRdma& found) {
    const RdmaDevice& other = *found.device;
    return other.id.value != device.id.value && other.port_guid == device.port_guid &&
           other.port.value.state == ib::PortState::active;
  };
  return fabric.sm && has_link(device) && std::none_of(all.begin(), all.end(), same_port);
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
  if (interface.joined.value && interface.mode == nl::IpoibMode::datagram)
    interface.mtu = std::min(interface.mtu, kDatagramMtu);
  return interface.joined.value != had_carrier;
}

bool FakeNode::settle() {
  bool changed = false;
  for (const FoundRdma& found : rdma_devices_of()) changed |= sweep(*found.device);
  for (auto& [id, where] : state.namespaces) {
    for (auto& [name, interface] : where.interfaces) changed |= join(interface);
  }
  return changed;
}

}  // namespace ibpod::fake
