// Where a PCI function sits and what it is: its ids, NUMA node, root complex, IOMMU group.
#pragma once

#include "lib/ib/pci_address.h"
#include "lib/sysfs/sysfs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sysfs {

// All PCI functions of the node, sorted. Domains that take more than four digits (VMD) are left
// out.
Result<std::vector<ib::PciAddress>> functions(const Sysfs& sysfs);

struct PciIds {
  std::string vendor;         // "15b3"
  std::string device;         // "101e"
  uint32_t device_class = 0;  // 0x020700: class, subclass and interface
  bool operator==(const PciIds&) const = default;
};
// By the function's modalias, which has all of them in one file.
Result<PciIds> pci_ids(const Sysfs& sysfs, const ib::PciAddress& function);

// Nothing: the platform does not say (-1).
Result<std::optional<int>> numa_node(const Sysfs& sysfs, const ib::PciAddress& function);
// The root complex that the function's path starts with, "pci0000:3a"; empty: none is seen.
Result<std::string> pcie_root(const Sysfs& sysfs, const ib::PciAddress& function);
// The number that the firmware gives an onboard device (_DSM), where it does.
Result<std::optional<uint32_t>> acpi_index(const Sysfs& sysfs, const ib::PciAddress& function);
// N of /dev/vfio/N; nothing where no IOMMU is on.
Result<std::optional<uint32_t>> iommu_group(const Sysfs& sysfs, const ib::PciAddress& function);

}  // namespace ibpod::sysfs
