// FakeSysfs: a sysfs in a temporary folder, as the kernel lays it out for a node with ConnectX HCAs
// in InfiniBand mode: PCI functions below devices/, links to them from bus/pci and the classes. A
// folder, not a model: nothing follows from a write; the calls below change what the kernel would.
#pragma once

#include "lib/ib/pci_address.h"
#include "lib/sysfs/sysfs.h"
#include "tests/support/temp_folder.h"

#include <map>
#include <string>

namespace ibpod::fake {

class FakeSysfs {
 public:
  // `pkeys`: the places of each port's P_Key table, of which the first two are 0x7fff and 0x8001.
  // mlx5 has 128 of them; less is faster. `device_class`: of its functions; 0x020700 is
  // InfiniBand.
  explicit FakeSysfs(unsigned pkeys = 4, uint32_t device_class = 0x020700);

  const Path& root() const { return folder_.path(); }
  sysfs::Sysfs open() const { return sysfs::Sysfs::open(root()).value(); }

  // The next PF: 0000:11:00.0 below pci0000:10, 0000:21:00.0 below pci0000:20 … (14 at most), on
  // NUMA node 0, 1, 0 …; bound, its one port ACTIVE. Its VFs follow it on the same bus (127 at
  // most): 0000:11:00.1, .2 … 0000:11:01.0. Devices are numbered as they are made: mlx5_0, ib0,
  // uverbs0, umad0, issm0.
  ib::PciAddress add_pf();
  // The next VF, or the first that has vanished.
  ib::PciAddress add_vf(const ib::PciAddress& pf);
  void add_pfs(unsigned pfs, unsigned vfs_of_each);
  // Any other PCI function, without a driver: 0x020000 is an Ethernet controller.
  ib::PciAddress add_function(const std::string& address, uint32_t device_class);

  // Everything that the driver made for the function goes with it. A new bind gives new numbers.
  void unbind(const ib::PciAddress& function);
  // mlx5_core makes devices of it; any other driver makes none, vfio-pci with an IOMMU group.
  void bind(const ib::PciAddress& function, const std::string& driver = "mlx5_core");
  void vanish(const ib::PciAddress& function);
  void remove_netdev(const ib::PciAddress& function);  // as where ib_ipoib is not loaded
  void remove_netdevs();                               // of all functions that there are

  // The function's RDMA device and netdev, of which there is one, or its first.
  std::string rdma_device(const ib::PciAddress& function) const;
  std::string netdev(const ib::PciAddress& function) const;
  // "smi1" beside mlx5_N, as a planarised XDR HCA has it: umad and issm, no uverbs.
  void add_smi(const ib::PciAddress& function, const std::string& name);
  void add_port(const ib::PciAddress& function, unsigned number);
  // Into the sysfs of a pod, as exclusive mode does it: RDMA device and netdev leave this one, the
  // character devices stay.
  void move_rdma(const ib::PciAddress& function, FakeSysfs& pod);

  // A file of the first RDMA device's port 1: set_port(vf, "state", "1: DOWN").
  void set_port(const ib::PciAddress& function, const std::string& file,
                const std::string& content);
  // A file of the function: set(vf, "numa_node", "-1").
  void set(const ib::PciAddress& function, const std::string& file, const std::string& content);
  void write(const Path& file, const std::string& content) const;
  // The function's folder, below root().
  Path home(const ib::PciAddress& function) const { return functions_.at(function).home; }

 private:
  struct Function {
    Path home;               // devices/pci0000:10/0000:10:01.0/0000:11:00.1
    unsigned number = 0;     // 0: the PF, 1: its VF 0 …
    unsigned vfs = 0;        // of a PF: the highest number
    unsigned long guid = 0;  // of its port
  };
  Path at(const Path& path) const { return root() / path; }
  void link(const Path& from, const Path& to) const;
  void add_bound(const ib::PciAddress& address, const Function& function);
  void add_rdma_device(const ib::PciAddress& function, const std::string& name, bool verbs);
  void add_char_device(const Path& home, const std::string& kind, const std::string& name,
                       const std::string& device) const;
  void write_port(const Path& device, unsigned number, unsigned long guid) const;
  void write_ids(const Path& home, uint16_t device, uint32_t device_class, int numa) const;
  void remove_class_entries(const Path& home, const std::string& kind) const;

  TempFolder folder_;
  unsigned pkeys_;
  uint32_t device_class_;
  std::map<ib::PciAddress, Function> functions_;
  unsigned pfs_ = 0;
  unsigned next_device_ = 0;
};

}  // namespace ibpod::fake
