// FakeNode: what a node's kernel, its drivers and the subnet manager do with a State. The behaviour
// is that of real kernels, surprises included, as far as the contract (tests/contract) or the
// kernel's sources show it (docs/kernel-notes.md). Nothing here is a seam: tests call it to be
// somebody else on the node (a runtime, udev, an administrator).
#pragma once

#include "lib/base/result.h"
#include "lib/node/kernel.h"
#include "tests/support/fake_state.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::fake {

// The namespace in which the netdev of a moved RDMA device is made again: the host before Linux
// 6.17, the target later.
enum class IpoibReappears { in_host, in_target };

// The subnet, as far as a node sees it.
struct Fabric {
  bool sm = true;                           // a subnet manager sweeps
  std::map<ib::Guid, ib::PKeyTable> pkeys;  // what it gives the port of that GUID
  ib::PKeyTable others{ib::PKey(0x7fff)};   // and everything else that has no own setting
  std::set<ip::Address> taken;              // addresses that other hosts on the link have
  std::map<ib::Guid, ib::Lid> lids;         // handed out once and for all
};

// The address of a PF's VF: after the PF's own, 0000:3b:00.1 … for 0000:3b:00.0.
ib::PciAddress vf_address(const ib::PciAddress& pf, uint32_t vf);

// A VF bound to a driver of its own, and what it read then.
struct Bound {
  ib::PciAddress vf;
  DeviceGuid node_guid;
  DeviceGuid port_guid;
};

class FakeNode {
 public:
  FakeNode();

  State state;
  Fabric fabric;
  IpoibReappears ipoib_reappears = IpoibReappears::in_host;
  bool tells_vf_settings = true;  // false: a kernel that cannot (EMSGSIZE)
  // false: a driver with IPoIB of its own, as mlx5's enhanced one.
  bool tells_queue_pairs = true;
  // The users of a function's RDMA devices, which lose them when it is unbound.
  std::map<ib::PciAddress, std::vector<node::RdmaUser>> rdma_users_of;
  bool tells_rdma_users = true;  // false: a kernel before 5.13
  // A search through all processes does not see everything, as the error says.
  std::optional<Error> gap = {};
  bool renames_while_up = false;  // since Linux 6.2
  // The kernel's numbers for RDMA devices are the lowest free ones; udev's rules and some drivers
  // give others. Nobody should count on the old name: the model never gives it.
  bool reuses_rdma_names = false;
  // Two namespaces may have RDMA devices of one name: seen on Linux 7.3.
  bool rdma_names_per_namespace = false;
  uint32_t port_mtu = 4092;  // the most in datagram mode: its ports' IB MTU is 4096
  std::set<std::string> drivers{"mlx5_core", "vfio-pci"};
  // The caller that binds or moves now has been killed, and its call is still in the kernel: the
  // new device does not react. (A thread that a killed process asks for may be there all the same:
  // the interface is.)
  bool caller_is_dying = false;
  // Every bind of a VF since this was emptied: a VF without a GUID should never be among them.
  std::vector<Bound> bound;

  // --- Who lives on the node besides the code under test.

  // A namespace as a container runtime makes it, with lo and eth0. A namespace that had the path
  // loses it.
  node::Namespace make_namespace(const Path& path);
  // It dies: its devices go home.
  void kill_namespace(const Path& path);
  void kill_namespace(const netns::Identity& identity);
  // It lives on, held by a process, where no path leads to; or by what nobody can look at.
  enum class HeldBy { process, nothing_seen };
  void hide_namespace(const Path& path, HeldBy holder = HeldBy::process);
  // Paths that show a file which is no namespace: a mount namespace that the mount has not reached,
  // or the runtime was killed between unmounting and removing.
  std::set<Path> covered;
  // `where` is a path, empty for the host, here and below. A missing device throws: the test is
  // wrong.
  void add_netdev(const Path& where, const std::string& name, nl::IfIndex index = {});
  void add_child(const Path& where, const std::string& parent, const std::string& name,
                 ib::PKey key);
  void rename_netdev(const Path& where, const std::string& from, const std::string& to);
  Status set_address(const Path& where, const std::string& name,
                     const nl::HardwareAddress& address);
  Interface& interface(const Path& where, const std::string& name);
  PciFunction& function_state(const ib::PciAddress& address);

  // A PF, or a VF with its number under it; no driver yet.
  void add_pf(const ib::PciAddress& address, ib::Guid guid);
  void add_vf(const ib::PciAddress& address, const ib::PciAddress& pf, uint32_t number);
  // The function disappears with all that is made of it.
  void vanish(const ib::PciAddress& address);
  // The PF makes its first VFs, as its driver does when it is given a number, or removes them all.
  void make_vfs(const ib::PciAddress& pf, uint32_t count);
  void remove_vfs(const ib::PciAddress& pf);
  // The power fails: namespaces end, VFs are gone, and PFs' drivers have forgotten them.
  void lose_power();
  // The work of drivers; mistakes in it are the kernel's answers.
  Status bind(const ib::PciAddress& address, const std::string& driver);
  void unbind(const ib::PciAddress& address);
  // The final result of the subnet manager and IPoIB if nothing else changes: ports up, tables
  // written, broadcast groups joined. False: nothing was left to do.
  bool settle();

 protected:
  using Interfaces = std::map<std::string, Interface>;
  struct Found {
    int where = kHostId;
    std::string name;
    Interface* interface = nullptr;
  };
  struct FoundRdma {
    int where = kHostId;
    std::string name;
    RdmaDevice* device = nullptr;
  };

  Result<int> id_of(const node::Namespace& where) const;
  int id_of(const Path& path) const;
  NetNamespace& namespace_of(int id);
  std::vector<node::Namespace> all_found() const;
  Result<Found> find_netdev_by(int where, nl::IfIndex index);
  std::optional<Found> find_by_id(Id id);
  // By name or altname, as the kernel looks.
  Interface* find_interface(int where, const std::string& name, std::string* found = nullptr);
  bool taken(int where, const std::string& name);

  nl::Link link(const std::string& name, const Interface& interface);
  ib::Port port(const RdmaDevice& device) const;
  // In the order of their numbers.
  std::vector<ib::PciAddress> vfs_of(const ib::PciAddress& pf) const;
  // The devices in all namespaces.
  std::vector<FoundRdma> rdma_devices_of(const std::optional<ib::PciAddress>& function = {});
  RdmaDevice& rdma_by_id(Id id);
  void add_queue_pairs_of(Id rdma, std::vector<uint32_t>& numbers) const;
  bool rdma_taken(int where, const std::string& name);
  bool has_carrier(const Interface& interface);

  Status rename(int where, const std::string& from, const std::string& to);
  Status move(const Found& what, int to, const std::string& name);
  void set_down(Interface& interface);
  void move_rdma_device(const FoundRdma& what, int to, const std::string& name);
  void apply_policy(const ib::PciAddress& vf);
  void remove_interface(Id id);

 private:
  Id new_id() { return {++state.last_id.value}; }
  // How many each function has made: each counts its own, so that two functions have the same.
  std::map<ib::PciAddress, uint32_t> queue_pairs_;
  void make_rdma_device(const ib::PciAddress& function);
  void make_netdev(const RdmaDevice& device, int where);
  void remove_netdevs_of(Id rdma);
  void remove_children_of(Id parent);
  Interface& insert(int where, const std::string& name, Interface interface);
  void kill_namespace(int id);
  void send_home(const std::string& name, Interface interface);
  std::string lowest_free(int where, const std::string& prefix);
  int lowest_free_minor();
  std::string new_rdma_name();
  bool has_link(const RdmaDevice& device) const;
  bool is_swept(const RdmaDevice& device);
  bool sweep(RdmaDevice& device);
  bool join(Interface& interface);
  ib::PKeyTable table_for(ib::Guid guid) const;
};

}  // namespace ibpod::fake
