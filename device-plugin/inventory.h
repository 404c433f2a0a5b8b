// Inventory: all PCI functions of a node that a pod could be given.
//
// Those are the network controllers of the PCI class 02, whatever has RDMA devices, and the VFs of
// such a PF. What a pod has is still there: of a VF whose RDMA device has gone into a pod's
// namespace the host's sysfs tells the PCI facts and the character devices, and a sysfs of that
// namespace the rest. What cannot be seen is left empty and Device::rdma_error says why.
#pragma once

#include "device-plugin/change_set.h"
#include "device-plugin/device.h"
#include "device-plugin/holders.h"
#include "device-plugin/rdma_devices.h"
#include "lib/node/host_network.h"
#include "lib/node/listing.h"
#include "lib/node/records.h"
#include "lib/sysfs/sysfs.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::device_plugin {

// Borrowed for as long as a reading takes.
struct InventoryDeps {
  const sysfs::Sysfs& sysfs;  // the host's
  const node::Records& records;
  const node::HostNetwork& network;
  node::PodSysfs pod_sysfs;
  PkeyTables tables = PkeyTables::read;  // skip: they are left empty
};

// Keeps what it has read, so that the next reading is of what may have changed since: a node can
// have a thousand functions, and an event is about one of them.
class Inventory {
 public:
  static constexpr size_t kReadsPerCycle = 60;

  // Sorted by address, and the same as if everything had been read, as far as `changed` is true.
  // The first reading is of everything. Later ones also read again each function that could not be
  // read the last time, or has gone to another pod by the records; and with ChangeSet::ports a few
  // functions in turn, so that kReadsPerCycle of these readings read all of them.
  //
  // A function that goes while it is read is left out, and a fault of one is reported for that one
  // only (Device::rdma_error). unavailable while VFs are being made or removed: an event comes at
  // the end of that. Read again then; the changes until now are kept.
  //
  // The P_Key table of a port with the same GUID, LID and state is read again with
  // ChangeSet::ports only.
  Result<std::vector<Device>> read(const InventoryDeps& deps, const ChangeSet& changed);

 private:
  using Addresses = std::set<ib::PciAddress>;
  using Holders = std::map<ib::PciAddress, Holder>;

  Addresses changed_functions(const sysfs::Sysfs& sysfs, const Holders& holders);
  void add_functions_by_name(const sysfs::Sysfs& sysfs, Addresses& named) const;
  bool needs_refresh(const Device& device, const Holders& holders) const;
  std::vector<ib::PciAddress> next_slice() const;
  void add_slice(Addresses& stale) const;
  Status add_with_relatives(const sysfs::Sysfs& sysfs, const ib::PciAddress& function,
                            Addresses& stale) const;
  Result<Addresses> stale(const sysfs::Sysfs& sysfs, const Holders& holders);
  Status refresh(const InventoryDeps& deps, const Holders& holders);
  std::vector<Device> complete_devices(const node::HostNetwork& network) const;

  ChangeSet pending_{.everything = true};     // and not read yet
  std::map<ib::PciAddress, Device> devices_;  // what sysfs says of each function by itself
  Holders holders_;
  std::vector<ib::PciAddress> slice_;  // to be read again in this reading
  ib::PciAddress last_in_slice_;       // that was
};

// One line a fact: "0000:3b:00.2: port 1 of mlx5_2: ACTIVE -> DOWN". Both sorted by address, as
// Inventory::read() returns. None: nothing worth a line has changed.
std::vector<std::string> describe_changes(const std::vector<Device>& before,
                                          const std::vector<Device>& after);

// Network controllers (PCI class 02), functions with RDMA devices, and the VFs of such PFs; sorted,
// with address, ids, PF, number and how many VFs filled in. Network controllers of the PCI class
// InfiniBand (0207) have that as their link type.
// Only those of `among`, which has the PF of each VF.
Result<std::vector<Device>> find_functions(const sysfs::Sysfs& sysfs,
                                           const std::vector<ib::PciAddress>& among);

}  // namespace ibpod::device_plugin
