// Kernel: all that the logic of an attachment asks of the node's kernel and orders it to do, in the
// domain's words. The one seam between logic and machine: LinuxKernel is the machine, the tests
// have a model of a node behind the same calls, and both pass the same contract (tests/contract).
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/ib/guid.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/port.h"
#include "lib/ip/prefix.h"
#include "lib/netns/netns.h"
#include "lib/netns/netns_status.h"
#include "lib/nl/rdma.h"
#include "lib/nl/rtnl.h"
#include "lib/node/host_network.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::node {

using nl::IfIndex;
using nl::LinkPolicy;

// Names a network namespace. Without a path: the host's, the one this process runs in.
// A path with another identity than the one found under it now is a namespace that is gone.
struct Namespace {
  Path path;
  netns::Identity identity;
  bool is_host() const { return path.empty(); }
  bool operator==(const Namespace&) const = default;
};
inline const Namespace kHost{};

// Looks at a namespace; true: it was the last that is wanted.
using NamespaceVisitor = std::function<Result<bool>(const Namespace&)>;

// A PCI function, as the bus tells of it.
struct Function {
  ib::PciAddress address;
  std::optional<ib::PciAddress> pf;   // its physical function; nothing: it is one
  uint32_t vf = 0;                    // its number under the PF
  std::optional<std::string> driver;  // what is bound to it
  bool operator==(const Function&) const = default;
};

// A physical function that may carry InfiniBand, and its VFs.
struct Pf {
  ib::PciAddress address;
  uint16_t vendor = 0;  // PCI IDs: 0x15b3 is NVIDIA's, Mellanox's before
  uint16_t device = 0;
  std::optional<std::string> driver;
  uint32_t total_vfs = 0;           // the most VFs that it can make; 0: its firmware has SR-IOV off
  bool autoprobe = true;            // whether the kernel binds its VFs, by itself or by hand
  std::vector<ib::PciAddress> vfs;  // those that are there, VF 0 first
  bool operator==(const Pf&) const = default;
};

// A netdev of a function: the IPoIB interface of its port, or a child on it.
using Netdev = nl::Link;

struct RdmaDevice {
  std::string name;
  ib::Guid node_guid = {};
  ib::Guid port_guid = {};  // of GID 0 of port 1
  bool operator==(const RdmaDevice&) const = default;
};

// A user of an RDMA device: a process that has opened it, 0 for one that is ending, or a kernel
// module with queue pairs on it.
struct RdmaUser {
  uint32_t process = 0;
  std::string module = {};
  bool operator==(const RdmaUser&) const = default;
};

// The properties of a netdev that can be changed; absent ones stay.
struct NetdevChange {
  std::optional<std::string> name = {};
  std::optional<std::vector<std::string>> altnames = {};  // exactly these
  std::optional<uint32_t> mtu = {};
  std::optional<nl::IpoibMode> mode = {};
  std::optional<bool> umcast = {};
  std::optional<bool> up = {};
};

struct Addressing {
  std::vector<ip::Prefix> addresses;
  std::vector<nl::Route> routes;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // --- Questions. They change nothing.

  // Nothing where there is no such function.
  virtual Result<std::optional<Function>> function(const ib::PciAddress& address) = 0;
  // The function's character devices, sorted: uverbs0, umad0, issm0 … None where it is gone.
  virtual Result<std::vector<std::string>> char_devices(const ib::PciAddress& address) = 0;
  // The physical functions of the node that are network adapters or have an RDMA device here,
  // whatever their ports carry, in the order of their addresses.
  virtual Result<std::vector<ib::PciAddress>> pfs() = 0;
  // Nothing where there is no such function, or where it is a VF.
  virtual Result<std::optional<Pf>> pf(const ib::PciAddress& address) = 0;
  virtual Result<nl::RdmaNetnsMode> rdma_netns_mode() = 0;
  // The namespace that a path leads to now; nothing where it leads to none.
  virtual Result<std::optional<Namespace>> find_namespace(const Path& path) = 0;
  // The status of a namespace that was found before, by its path, seen from the own mount namespace
  // (netns/netns_status.h). An error says nothing about the namespace.
  virtual Result<netns::NetnsStatus> namespace_status(const Namespace& recorded) = 0;
  // Shows `visit` every network namespace of the node that something leads to, without the host's:
  // what a pod has taken to one of its own is in none that a path is known of. A path is valid
  // until the next one is shown; the last one's, until the next search or find_namespace(). Returns
  // the first thing that could not be looked at, for whatever reason, the deadline included. What
  // is not in any of them need not be gone (netns/each_namespace.h). An error is that of `visit`,
  // or says that the search could not begin.
  virtual Result<std::optional<Error>> each_namespace(Deadline deadline,
                                                      const NamespaceVisitor& visit) = 0;
  // A link by its name or one of its altnames.
  virtual Result<std::optional<Netdev>> find_netdev(const Namespace& where,
                                                    const std::string& name) = 0;
  // The function's netdevs in a namespace, children included, in the order of their indexes. None
  // is left out because it is being renamed, here and with RDMA devices: unavailable where that
  // does not end.
  virtual Result<std::vector<Netdev>> netdevs(const Namespace& where,
                                              const ib::PciAddress& function) = 0;
  // The same without the children. Costs less on a node with many links, which are all listed for
  // the children's sake.
  virtual Result<std::vector<Netdev>> own_netdevs(const Namespace& where,
                                                  const ib::PciAddress& function) = 0;
  // All IPoIB netdevs of a namespace, children and not, in the order of their indexes.
  virtual Result<std::vector<Netdev>> ipoib_netdevs(const Namespace& where) = 0;
  // The numbers of the queue pairs that the function's RDMA devices of the host's namespace have
  // for IPoIB netdevs, wherever these are. A netdev whose queue pair is not among them is gone, if
  // that of another one that is there is. Where it is not, the kernel does not tell
  // (docs/kernel-notes.md#owners-of-queue-pairs).
  virtual Result<std::vector<uint32_t>> ipoib_queue_pairs(const ib::PciAddress& function) = 0;
  // The users of the function's RDMA devices of the host's namespace, in whatever network namespace
  // they are. Not among them: IPoIB, the RDMA core and the device's own driver, and processes that
  // have only management devices (umad) open. An error, never none, where the kernel cannot tell
  // (before 5.13), or this process is not in the host's PID namespace.
  virtual Result<std::vector<RdmaUser>> rdma_users(const ib::PciAddress& function) = 0;
  // The function that a netdev of the host's namespace is made of, by the netdev's name; nothing
  // for one that hangs on none, as IPoIB children do.
  virtual Result<std::optional<ib::PciAddress>> function_of(const std::string& netdev) = 0;
  // The function's RDMA devices in a namespace, sorted by name. In shared mode all are the host's.
  // A device whose name has a '/', which a pod may have given it, gets another one first: no path
  // can hold it.
  virtual Result<std::vector<RdmaDevice>> rdma_devices(const Namespace& where,
                                                       const ib::PciAddress& function) = 0;
  // The names alone, read once, which costs less: where there are several, one that is being
  // renamed may be missing.
  virtual Result<std::vector<std::string>> rdma_names(const Namespace& where,
                                                      const ib::PciAddress& function) = 0;
  // Port 1 of an RDMA device. GUID and P_Keys are the port's own, as the subnet manager left them.
  virtual Result<ib::Port> port(const Namespace& where, const std::string& rdma_device) = 0;
  // The same with the table's entries up to the first full member's key of this partition; all
  // where there is none. Each entry is a command of the adapter's firmware, and a table has 128.
  virtual Result<ib::Port> port_up_to(const Namespace& where, const std::string& rdma_device,
                                      ib::PKey partition) = 0;
  // The settings of a VF in its PF's driver. unsupported if the kernel cannot report them.
  virtual Result<nl::VfSettings> vf_settings(const Function& vf) = 0;
  virtual Result<std::vector<nl::LinkAddress>> addresses(const Namespace& where,
                                                         IfIndex netdev) = 0;
  // The routes that go by the netdev, the kernel's own too. Metrics are left out.
  virtual Result<std::vector<nl::Route>> routes(const Namespace& where, IfIndex netdev) = 0;
  // The host's links, and what the host uses them for (host_network.h).
  virtual Result<HostNetwork> host_network() = 0;

  // --- Orders. Each is one step; done or refused. Namespaces that are gone are not_found.

  // Makes a PF's VFs, or with 0 removes them all, wherever their devices are. New ones are bound to
  // the PF's driver while autoprobe is on, and to nothing else. busy where there are VFs and the
  // number is neither 0 nor theirs; invalid where it is above Pf::total_vfs; not_found without a
  // driver. What the PF's driver was told of its VFs outlives them
  // (docs/kernel-notes.md#vf-settings-in-the-pf-outlive-the-vfs).
  virtual Status set_vf_count(const ib::PciAddress& pf, uint32_t count) = 0;
  // Decides if the PF's VFs are bound from now on. While it is off, set_driver() is unsupported for
  // them.
  virtual Status set_autoprobe(const ib::PciAddress& pf, bool on) = 0;
  // busy while any other network namespace exists, unless the mode is this one already. One that is
  // gone counts until the kernel has taken it down.
  virtual Status set_rdma_netns_mode(nl::RdmaNetnsMode mode) = 0;
  // Tells the PF's driver a VF's GUIDs. A bound VF takes them when it is bound next. Zero is
  // refused.
  virtual Status set_vf_guids(const Function& vf, ib::Guid node, ib::Guid port) = 0;
  virtual Status set_vf_policy(const Function& vf, LinkPolicy policy) = 0;
  // Binds a driver, or none. What the last driver made of the function (netdevs, RDMA devices) is
  // gone with it, wherever it was; what the new one makes appears in the host's namespace, under
  // new names.
  virtual Status set_driver(const ib::PciAddress& function,
                            const std::optional<std::string>& driver) = 0;
  // Moves an RDMA device. The kernel creates its netdev again: in the host's namespace before 6.17,
  // in the target since (docs/kernel-notes.md#rdma-moves-re-create-ipoib). unsupported in shared
  // mode.
  virtual Status move_rdma(const Namespace& from, const std::string& device,
                           const Namespace& to) = 0;
  virtual Status rename_rdma(const Namespace& where, const std::string& device,
                             const std::string& name) = 0;
  // Moves a netdev and names it there; it is down then. exists where the name is taken there, and
  // the netdev may have moved all the same.
  virtual Status move_netdev(const Namespace& from, IfIndex netdev, const Namespace& to,
                             const std::string& name) = 0;
  // Changes a netdev in the order: down (where asked), altnames, name, mode, umcast, MTU, up.
  virtual Status change_netdev(const Namespace& where, IfIndex netdev,
                               const NetdevChange& change) = 0;
  // Makes an IPoIB child on a netdev of the host's namespace, there. exists where its name
  // or its index is taken.
  virtual Status create_child(IfIndex parent, const nl::NewChild& child) = 0;
  virtual Status remove_netdev(const Namespace& where, IfIndex netdev) = 0;
  // Adds addresses and routes, and waits until IPv6 duplicate address detection is through with
  // them. Where there is an IPv6 address among them, IPv6 is enabled on the netdev and on lo. An
  // address that is there already is refused (exists); a route that is there is a success, and one
  // beside another route to the same destination is added, as containernetworking's plugins do.
  virtual Status configure(const Namespace& where, IfIndex netdev, const Addressing& addressing,
                           Deadline deadline) = 0;
  // Tells the neighbours where the addresses live now. The netdev needs carrier.
  virtual Status announce(const Namespace& where, IfIndex netdev,
                          const std::vector<ip::Prefix>& addresses) = 0;

  // Waits until something about links or devices may have changed. Callers look again themselves:
  // waking up promises nothing. False: the deadline has passed (a model says so at once where
  // nothing can change any more).
  virtual Result<bool> wait_for_change(Deadline deadline) = 0;
};

// Repeats `look` at every change until it answers true. False: the deadline passed without.
template <typename Look>
Result<bool> wait_until(Kernel& kernel, Deadline deadline, Look look) {
  while (true) {
    const bool there = TRY(look());
    if (there) return true;
    const bool more = TRY(kernel.wait_for_change(deadline));
    if (!more) return look();
  }
}

}  // namespace ibpod::node
