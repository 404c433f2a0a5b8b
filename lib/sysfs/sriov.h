// SR-IOV: functions that can have VFs, their number, and how to create them.
#pragma once

#include "lib/ib/pci_address.h"
#include "lib/sysfs/sysfs.h"

#include <cstdint>
#include <vector>

namespace ibpod::sysfs {

// The functions that are not VFs and that are network adapters (PCI class 02) or have an RDMA
// device in this Sysfs, sorted.
Result<std::vector<ib::PciAddress>> physical_functions(const Sysfs& sysfs);

struct PciId {
  uint16_t vendor = 0;
  uint16_t device = 0;
  bool operator==(const PciId&) const = default;
};
Result<PciId> pci_id(const Sysfs& sysfs, const ib::PciAddress& function);

// The largest number of VFs of a PF (sriov_totalvfs); 0 without an SR-IOV capability, also if the
// firmware has SR-IOV off.
Result<uint32_t> total_vfs(const Sysfs& sysfs, const ib::PciAddress& pf);
// True if the kernel binds the PF's VFs, automatically or on request (sriov_drivers_autoprobe), or
// has no such switch.
Result<bool> autoprobe(const Sysfs& sysfs, const ib::PciAddress& pf);
Status set_autoprobe(const Sysfs& sysfs, const ib::PciAddress& pf, bool on);
// Creates this number of VFs, or removes all with 0 (sriov_numvfs). busy if another number exists;
// invalid above total_vfs(), with both numbers. Takes seconds on real adapters.
Status set_vf_count(const Sysfs& sysfs, const ib::PciAddress& pf, uint32_t count);

}  // namespace ibpod::sysfs
