#include "device-plugin/rdma_devices.h"

#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"

#include <algorithm>
#include <set>

namespace ibpod::device_plugin {
namespace {

using Names = std::vector<std::string>;

// A rename between a list and what is read by it is rare, and two in a row are no accident.
constexpr int kAttempts = 3;

const RdmaDevice* find_known(const Device* known, const std::string& name) {
  if (known == nullptr) return nullptr;
  for (const RdmaDevice& device : known->rdma) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

bool is_unchanged(const ib::Port& now, const ib::Port& then) {
  return now.state == then.state && now.lid == then.lid && now.guid == then.guid &&
         !then.pkeys.empty();
}

ib::Port read_port(const sysfs::Sysfs& sysfs, const std::string& device, unsigned number,
                   const RdmaDevice* known, PkeyTables tables) {
  Result<ib::Port> port = sysfs::port_without_pkeys(sysfs, device, number);
  if (!port) return {};
  if (tables == PkeyTables::skip) return *port;
  if (known != nullptr && number <= known->ports.size() &&
      is_unchanged(*port, known->ports[number - 1])) {
    port->pkeys = known->ports[number - 1].pkeys;
    return *port;
  }
  const Result<ib::PKeyTable> pkeys = sysfs::pkeys(sysfs, device, number);
  if (pkeys) port->pkeys = *pkeys;
  return *port;
}

Result<RdmaDevice> read_device(const sysfs::Sysfs& sysfs, const std::string& name,
                               const RdmaDevice* known, PkeyTables tables) {
  RdmaDevice device;
  device.name = name;
  device.node_guid = TRY(sysfs::node_guid(sysfs, name));
  const std::vector<unsigned> numbers = TRY(sysfs::ports(sysfs, name));
  for (const unsigned number : numbers) {
    device.ports.push_back(read_port(sysfs, name, number, known, tables));
  }
  return device;
}

// Only where a function has several devices is there anything to tell apart.
void find_verbs_devices(const sysfs::Sysfs& sysfs, const Device& function,
                        std::vector<RdmaDevice>& devices) {
  const auto names = sysfs::devices_with_verbs(sysfs, function.char_devices);
  const std::set<std::string> with_verbs(names.begin(), names.end());
  if (with_verbs.empty()) return;
  for (RdmaDevice& device : devices) device.verbs = with_verbs.contains(device.name);
  std::stable_partition(devices.begin(), devices.end(),
                        [](const RdmaDevice& device) { return device.verbs; });
}

std::string link_type_of(const sysfs::Sysfs& sysfs, const std::vector<RdmaDevice>& devices) {
  if (devices.empty()) return {};
  const auto layer = sysfs::link_layer(sysfs, devices.front().name, 1);
  if (!layer || *layer == sysfs::LinkLayer::unspecified) return {};
  return *layer == sysfs::LinkLayer::infiniband ? "infiniband" : "ether";
}

Result<RdmaDevices> read_named(const sysfs::Sysfs& sysfs, const Device& function,
                               const Device* known, const Names& names, PkeyTables tables) {
  RdmaDevices reading;
  for (const std::string& name : names) {
    RdmaDevice device = TRY(read_device(sysfs, name, find_known(known, name), tables));
    reading.devices.push_back(std::move(device));
  }
  if (names.size() > 1) find_verbs_devices(sysfs, function, reading.devices);
  reading.link_type = link_type_of(sysfs, reading.devices);
  return reading;
}

}  // namespace

Result<RdmaDevices> read_rdma(const sysfs::Sysfs& sysfs, const Device& function,
                              const Device* known, PkeyTables tables) {
  Names names = TRY(sysfs::rdma_devices(sysfs, function.address));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (names.empty()) return RdmaDevices();
    Result<RdmaDevices> reading = read_named(sysfs, function, known, names, tables);
    // A name may have gone over to another device meanwhile.
    Names now = TRY(sysfs::rdma_devices(sysfs, function.address));
    if (names == now) return reading;
    names = std::move(now);
  }
  return Error(Code::unavailable, "cannot read the RDMA devices of " + function.address.text() +
                                      ": their names keep changing");
}

void reread_ports(const sysfs::Sysfs& sysfs, PkeyTables tables, Device& function) {
  for (RdmaDevice& device : function.rdma) {
    for (size_t i = 0; i < device.ports.size(); ++i)
      device.ports[i] =
          read_port(sysfs, device.name, static_cast<unsigned>(i) + 1, nullptr, tables);
  }
}

}  // namespace ibpod::device_plugin
