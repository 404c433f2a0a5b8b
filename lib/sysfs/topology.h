// A PCI function's ids and place: NUMA node, root complex, IOMMU group.
#pragma once

#include "lib/ib/pci_address.h"
#include "lib/sysfs/sysfs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sysfs {

// All PCI functions of the node, sorted, without those of domains above 0xffff (VMD).
Result<std::vector<ib::PciAddress>> functions(const Sysfs& sysfs);

struct PciIds {
  std::string vendor;         // "15b3"
  std::string device;         // "101e"
  uint32_t device_class = 0;  // 0x020700: class, subclass and interface
  bool operator==(const PciIds&) const = default;
};
// Reads the function's modalias, one file with all ids.
Result<PciIds> pci_ids(const Sysfs& sysfs, const ib::PciAddress& function);

// Nothing if the platform does not report one (-1).
Result<std::optional<int>> numa_node(const Sysfs& sysfs, const ib::PciAddress& function);
// The root complex at the start of the function's path, "pci0000:3a"; empty if there is none.
Result<std::string> pcie_root(const Sysfs& sysfs, const ib::PciAddress& function);
// The number that the firmware gives an onboard device (_DSM), if it does.
Result<std::optional<uint32_t>> acpi_index(const Sysfs& sysfs, const ib::PciAddress& function);
// N of /dev/vfio/N; nothing without an IOMMU.
Result<std::optional<uint32_t>> iommu_group(const Sysfs& sysfs, const ib::PciAddress& function);

}  // namespace ibpod::sysfs
