// Device: what a node tells of one PCI function that a pod could be given. A value, without I/O:
// inventory.h fills it in, selectors, pools and health judge by it.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/port.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct RdmaDevice {
  std::string name;  // mlx5_2
  ib::Guid node_guid;
  std::vector<ib::Port> ports;  // port 1 first; state unknown: it could not be read
  // True if it has verbs (uverbsN). smi1 beside mlx5_1, on planarized XDR, only carries MADs.
  bool verbs = true;
  bool operator==(const RdmaDevice&) const = default;
};

// Why no SM service of the node's would bring its port into a partition, whichever that is.
struct BindFault {
  enum class Kind {
    subnet,       // its PF is on none of the node's fabrics
    certificate,  // the node has none that it could show the service
    service,      // that has not been reached for a while
    guid,         // the service does not know the port for the node's
  };
  Kind kind;
  std::string text;  // for people
  bool operator==(const BindFault&) const = default;
};

struct Device {
  ib::PciAddress address;
  std::string vendor;     // "15b3", as sysfs has it without 0x
  std::string device_id;  // "101e"
  std::optional<std::string> driver;

  std::optional<ib::PciAddress> pf;  // of a VF; nothing: it is a PF
  std::string pf_name;               // the PF's netdev; empty: it has none
  uint32_t vf = 0;                   // a VF's number under its PF
  uint32_t vfs = 0;                  // how many a PF has now

  std::string link_type;    // "infiniband", "ether"; empty: nothing tells
  std::optional<int> numa;  // nothing: the platform does not say (-1)
  std::string pcie_root;    // "pci0000:3a": functions below one root complex
  std::optional<uint32_t> acpi_index;
  // Position of its PF among the node's InfiniBand PFs in the order of their PCI addresses.
  std::optional<uint32_t> rail;

  std::vector<RdmaDevice> rdma;           // wherever they are, in a pod too
  std::vector<std::string> char_devices;  // uverbs0, umad0, issm0 ...
  std::vector<std::string> netdevs;       // in the host's namespace
  std::optional<uint32_t> iommu_group;    // N of /dev/vfio/N; nothing: no IOMMU
  // Why its RDMA devices could not be looked at, so that `rdma` says nothing; empty: they could.
  std::string rdma_error;
  bool pf_up = true;  // the PF's own port has a link, as far as it can be seen

  // Why the host needs it itself: "carries the default route"; empty: it does not.
  std::string host_use;
  // The attachment that has it by the records; empty: none.
  std::string attachment;
  // Why it may not be given out although no pod has it; empty: it may.
  std::string quarantine;
  // Nothing, too, while a pod has it, and on a node without fabrics.
  std::optional<BindFault> bind_fault;

  bool operator==(const Device&) const = default;
};

}  // namespace ibpod::device_plugin
