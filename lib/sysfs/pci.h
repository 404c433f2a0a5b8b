// PCI functions: their drivers, and the relation of VFs and PFs.
#pragma once

#include "lib/ib/pci_address.h"
#include "lib/sysfs/sysfs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sysfs {

bool exists(const Sysfs& sysfs, const ib::PciAddress& function);
// The bound driver, or nothing.
Result<std::optional<std::string>> driver(const Sysfs& sysfs, const ib::PciAddress& function);
// The PF of a VF; nothing if the function is not a VF.
Result<std::optional<ib::PciAddress>> pf_of(const Sysfs& sysfs, const ib::PciAddress& function);
// The VFs of a PF in the order of their numbers (virtfn0, virtfn1 …).
Result<std::vector<ib::PciAddress>> vfs_of(const Sysfs& sysfs, const ib::PciAddress& pf);
// The number of `vf` under its PF.
Result<uint32_t> vf_index(const Sysfs& sysfs, const ib::PciAddress& pf, const ib::PciAddress& vf);

// Unbinds or binds a driver. unbind() of a function without a driver is a success. A failed bind
// says why if that is known (sriov_drivers_autoprobe of the PF is 0: the kernel returns ENODEV).
Status unbind(const Sysfs& sysfs, const ib::PciAddress& function);
Status bind(const Sysfs& sysfs, const ib::PciAddress& function, const std::string& driver);

// The names of the function's netdevs and RDMA devices in this Sysfs.
Result<std::vector<std::string>> netdevs(const Sysfs& sysfs, const ib::PciAddress& function);
Result<std::vector<std::string>> rdma_devices(const Sysfs& sysfs, const ib::PciAddress& function);
// True if the function has RDMA devices in any namespace, by its character devices.
bool has_rdma(const Sysfs& sysfs, const ib::PciAddress& function);
// The PCI function of a netdev or an RDMA device; nothing for a virtual one.
Result<std::optional<ib::PciAddress>> function_of_netdev(const Sysfs& sysfs,
                                                         const std::string& netdev);
Result<std::optional<ib::PciAddress>> function_of_rdma_device(const Sysfs& sysfs,
                                                              const std::string& device);
// The function's character devices, such as uverbs0, umad0, issm0. The sysfs of every namespace
// shows them (docs/kernel-notes.md#char-devices-have-no-namespace).
Result<std::vector<std::string>> char_devices(const Sysfs& sysfs, const ib::PciAddress& function);

}  // namespace ibpod::sysfs
