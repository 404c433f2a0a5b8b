// SR-IOV: which functions can have VFs, how many, and making them.
#pragma once

#include "lib/ib/pci_address.h"
#include "lib/sysfs/sysfs.h"

#include <cstdint>
#include <vector>

namespace ibpod::sysfs {

// The functions that are no VFs and that are network adapters (PCI class 02) or have an RDMA device
// that this Sysfs shows, sorted.
Result<std::vector<ib::PciAddress>> physical_functions(const Sysfs& sysfs);

struct PciId {
  uint16_t vendor = 0;
  uint16_t device = 0;
  bool operator==(const PciId&) const = default;
};
Result<PciId> pci_id(const Sysfs& sysfs, const ib::PciAddress& function);

// The most VFs that a PF can make (sriov_totalvfs); 0 where it has no SR-IOV capability, as an
// adapter shows itself whose firmware has SR-IOV off.
Result<uint32_t> total_vfs(const Sysfs& sysfs, const ib::PciAddress& pf);
// Whether the kernel binds the PF's VFs, by itself or by hand (sriov_drivers_autoprobe). It does
// where it has no such switch.
Result<bool> autoprobe(const Sysfs& sysfs, const ib::PciAddress& pf);
Status set_autoprobe(const Sysfs& sysfs, const ib::PciAddress& pf, bool on);
// Makes so many VFs, or removes all with 0 (sriov_numvfs). busy where there are others already;
// invalid above total_vfs(), with both numbers. Takes seconds on real adapters.
Status set_vf_count(const Sysfs& sysfs, const ib::PciAddress& pf, uint32_t count);

}  // namespace ibpod::sysfs
