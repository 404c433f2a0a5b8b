#include "lib/node/linux_kernel.h"

#include "lib/ib/hex.h"
#include "lib/netns/each_namespace.h"
#include "lib/nl/announce.h"
#include "lib/nl/rtnl.h"
#include "lib/node/listing.h"
#include "lib/node/names.h"
#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"

#include <algorithm>
#include <array>
#include <random>

#include <poll.h>
#include <sys/stat.h>

namespace ibpod::node {
namespace {

// A port's state and its P_Key table change without any event that a netlink socket would see (only
// an open verbs context is told), so no wait is longer than this.
constexpr Duration kLongestWait{25};
constexpr int kRenameAttempts = 3;

std::string in(const Namespace& where) {
  return where.is_host() ? " in the host's namespace" : " in " + where.path.string();
}

Error gone(const Namespace& where) {
  return Error(Code::not_found, "the interface is gone" + in(where));
}

// True if every InfiniBand device has queue pairs of this module, used or not.
bool is_part_of_device(const std::string& module) {
  constexpr std::array kModules{"ib_core", "ib_ipoib", "mlx4_ib", "mlx5_ib"};
  return std::find(kModules.begin(), kModules.end(), module) != kModules.end();
}

// The kernel lists queue pairs of its own, and all processes, in the first PID namespace only,
// which has a fixed inode number (PROC_PID_INIT_INO: linux/include/linux/proc_ns.h).
bool in_first_pid_namespace() {
  constexpr ino_t kFirst = 0xeffffffc;
  struct stat own;
  return ::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == kFirst;
}

Path path_of(const netns::NetNs& held) {
  return "/proc/self/fd/" + std::to_string(held.fd().get());
}

}  // namespace

Result<std::unique_ptr<LinuxKernel>> LinuxKernel::open(const Path& sys) {
  sysfs::Sysfs sysfs = TRY(sysfs::Sysfs::open(sys));
  std::unique_ptr<NamespaceView> host = TRY(NamespaceView::of_own(std::move(sysfs)));
  const sysfs::Sysfs* const of_host = TRY(host->sysfs());
  return std::unique_ptr<LinuxKernel>(new LinuxKernel(std::move(host), *of_host));
}

// Never that of another namespace than `where`.
Result<NamespaceView*> LinuxKernel::view(const Namespace& where) {
  if (where.is_host()) return &*host_;
  const auto known = pods_.find(where.path);
  if (known != pods_.end() && known->second->identity() == where.identity) return &*known->second;
  netns::NetNs netns = TRY(netns::NetNs::open(where.path));
  std::unique_ptr<NamespaceView> opened = TRY(NamespaceView::of(std::move(netns)));
  if (opened->identity() != where.identity)
    return Error(Code::not_found,
                 where.path.string() + ": the namespace is gone, and another one has its path");
  return &*pods_.insert_or_assign(where.path, std::move(opened)).first->second;
}

Result<std::optional<Function>> LinuxKernel::function(const ib::PciAddress& address) {
  const sysfs::Sysfs& sysfs = host_sysfs_;
  if (!sysfs::exists(sysfs, address)) return std::optional<Function>();
  Function function;
  function.address = address;
  function.driver = TRY(sysfs::driver(sysfs, address));
  function.pf = TRY(sysfs::pf_of(sysfs, address));
  if (function.pf) function.vf = TRY(sysfs::vf_index(sysfs, *function.pf, address));
  return std::optional<Function>(std::move(function));
}

Result<std::vector<std::string>> LinuxKernel::char_devices(const ib::PciAddress& address) {
  return sysfs::char_devices(host_sysfs_, address);
}

Result<nl::RdmaNetnsMode> LinuxKernel::rdma_netns_mode() {
  nl::Socket* const rdma = TRY(host_->rdma());
  return nl::rdma_netns_mode(*rdma);
}

// A process that has a namespace open keeps it alive, and keeps its devices from returning.
void LinuxKernel::close_other() {
  if (other_) pods_.erase(path_of(*other_));
  other_.reset();
}

Result<std::optional<Error>> LinuxKernel::each_namespace(Deadline deadline,
                                                         const NamespaceVisitor& visit) {
  close_other();
  const netns::NamespaceVisitor look_at_other = [&](netns::NetNs netns) -> Result<bool> {
    const netns::Identity identity = TRY(netns.identity());
    if (identity == host_->identity()) return false;
    other_.emplace(std::move(netns));
    const bool enough = TRY(visit({path_of(*other_), identity}));
    if (!enough) close_other();
    return enough;
  };
  return netns::each_namespace(look_at_other, deadline);
}

// The one of the namespaces that are open here that a path leads to: they keep their inode numbers.
const NamespaceView* LinuxKernel::find_open(const Path& path) const {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) return nullptr;
  const auto is_it = [&](const NamespaceView& view) {
    return found.st_dev == view.identity().device && found.st_ino == view.identity().inode;
  };
  if (is_it(*host_)) return &*host_;
  const auto known = pods_.find(path);
  return known != pods_.end() && is_it(*known->second) ? &*known->second : nullptr;
}

Result<std::optional<Namespace>> LinuxKernel::find_namespace(const Path& path) {
  close_other();
  const NamespaceView* const known = find_open(path);
  if (known != nullptr) return std::optional(Namespace{path, known->identity()});
  // A descriptor of ours keeps it alive, and keeps its devices from coming home.
  pods_.erase(path);
  Result<netns::NetNs> netns = netns::NetNs::open(path);
  if (!netns && netns.error().code() == Code::not_found) return std::optional<Namespace>();
  // It stays open: calls about what is in a namespace follow the one that looks for it.
  netns::NetNs found = TRY(std::move(netns));
  std::unique_ptr<NamespaceView> opened = TRY(NamespaceView::of(std::move(found)));
  const netns::Identity identity = opened->identity();
  pods_.insert_or_assign(path, std::move(opened));
  return std::optional(Namespace{path, identity});
}

Result<netns::NetnsStatus> LinuxKernel::namespace_status(const Namespace& recorded) {
  return netns::netns_status(recorded.path, recorded.identity, {});
}

Result<std::optional<Netdev>> LinuxKernel::find_netdev(const Namespace& where,
                                                       const std::string& name) {
  NamespaceView* const view = TRY(this->view(where));
  return nl::find_link(view->route(), name);
}

// The kernel reports a rename as any other change. A caller that waits for a change reads
// everything again after the wait, so the events that are discarded here are not missed.
Pause LinuxKernel::pause() {
  return [this]() -> Status {
    TRY(wait_for_change(Deadline::in(kLongestWait)));
    return ok();
  };
}

Result<std::vector<Netdev>> LinuxKernel::netdevs(const Namespace& where,
                                                 const ib::PciAddress& function) {
  NamespaceView* const view = TRY(this->view(where));
  const sysfs::Sysfs* const sysfs = TRY(view->sysfs());
  return list_netdevs(*sysfs, view->route(), function, pause());
}

Result<std::vector<Netdev>> LinuxKernel::own_netdevs(const Namespace& where,
                                                     const ib::PciAddress& function) {
  NamespaceView* const view = TRY(this->view(where));
  const sysfs::Sysfs* const sysfs = TRY(view->sysfs());
  return list_own_netdevs(*sysfs, view->route(), function, pause());
}

Result<std::vector<Netdev>> LinuxKernel::ipoib_netdevs(const Namespace& where) {
  NamespaceView* const view = TRY(this->view(where));
  std::vector<Netdev> all = TRY(nl::links(view->route()));
  std::erase_if(all, [](const Netdev& netdev) { return netdev.kind != "ipoib"; });
  std::sort(all.begin(), all.end(),
            [](const Netdev& a, const Netdev& b) { return a.index < b.index; });
  return all;
}

Result<nl::RdmaIndex> LinuxKernel::index_of(const RdmaDevice& device) {
  nl::Socket* const rdma = TRY(host_->rdma());
  const std::optional<nl::RdmaDevice> found = TRY(nl::find_rdma_device(*rdma, device.name));
  if (found) return found->index;
  return Error(Code::unavailable, device.name + " has disappeared");
}

Result<std::vector<uint32_t>> LinuxKernel::ipoib_queue_pairs(const ib::PciAddress& function) {
  const std::vector<RdmaDevice> devices = TRY(rdma_devices(kHost, function));
  nl::Socket* const rdma = TRY(host_->rdma());
  std::vector<uint32_t> numbers;
  for (const RdmaDevice& device : devices) {
    const nl::RdmaIndex index = TRY(index_of(device));
    const std::vector<nl::KernelQueuePair> pairs = TRY(nl::kernel_queue_pairs(*rdma, index));
    for (const nl::KernelQueuePair& pair : pairs) {
      if (pair.owner == "ib_ipoib") numbers.push_back(pair.number);
    }
  }
  return numbers;
}

// A device with a port has queue pairs of the RDMA core, unless its bind was cut short. If none is
// listed elsewhere than in the first PID namespace, no process of a pod is either.
Result<std::vector<RdmaUser>> LinuxKernel::rdma_users(const ib::PciAddress& function) {
  const std::vector<RdmaDevice> devices = TRY(rdma_devices(kHost, function));
  nl::Socket* const rdma = TRY(host_->rdma());
  std::vector<RdmaUser> users;
  for (const RdmaDevice& device : devices) {
    const nl::RdmaIndex index = TRY(index_of(device));
    const std::vector<nl::KernelQueuePair> pairs = TRY(nl::kernel_queue_pairs(*rdma, index));
    if (pairs.empty() && !in_first_pid_namespace()) {
      return Error(Code::unavailable,
                   "the kernel lists no queue pair of " + device.name +
                       ": run in the host's PID namespace (hostPID) to see its users");
    }
    for (const nl::KernelQueuePair& pair : pairs)
      if (!is_part_of_device(pair.owner)) users.push_back({.module = pair.owner});
    const std::vector<uint32_t> processes = TRY(nl::context_owners(*rdma, index));
    for (const uint32_t process : processes) users.push_back({.process = process});
  }
  return users;
}

Result<std::optional<ib::PciAddress>> LinuxKernel::function_of(const std::string& netdev) {
  return sysfs::function_of_netdev(host_sysfs_, netdev);
}

Result<std::vector<RdmaDevice>> LinuxKernel::rdma_devices(const Namespace& where,
                                                          const ib::PciAddress& function) {
  NamespaceView* const view = TRY(this->view(where));
  const sysfs::Sysfs* const sysfs = TRY(view->sysfs());
  return list_or_rename(*view, [&] { return list_rdma_devices(*sysfs, function, pause()); });
}

Result<std::vector<std::string>> LinuxKernel::rdma_names(const Namespace& where,
                                                         const ib::PciAddress& function) {
  NamespaceView* const view = TRY(this->view(where));
  const sysfs::Sysfs* const sysfs = TRY(view->sysfs());
  return list_or_rename(*view, [&] { return sysfs::rdma_devices(*sysfs, function); });
}

template <typename List>
auto LinuxKernel::list_or_rename(NamespaceView& view, List list) -> decltype(list()) {
  auto listed = list();
  if (listed || listed.error().error_number() != EIO) return listed;
  const Status renamed = rename_unlistable(view);
  listed = list();
  if (listed || renamed) return listed;
  return std::move(listed).error().also(renamed.error());
}

namespace {

// The first name is for people. A pod may have taken it, and any other that can be guessed: before
// 7.x names count over all namespaces.
Status rename_to_free(nl::Socket& rdma, nl::RdmaIndex device) {
  const std::string name = "rdma" + std::to_string(static_cast<uint32_t>(device));
  Status renamed = nl::rename_rdma_device(rdma, device, name);
  std::random_device random;
  for (int i = 0; i < kRenameAttempts && is_name_taken(renamed); ++i)
    renamed = nl::rename_rdma_device(rdma, device, name + "_" + ib::hex(random(), 8));
  return renamed;
}

}  // namespace

// A pod with CAP_NET_ADMIN may have named its device "x/y": the kernel takes that, and a folder
// with such an entry cannot be listed any more. Netlink lists the device all the same.
Status LinuxKernel::rename_unlistable(NamespaceView& view) {
  nl::Socket* const rdma = TRY(view.rdma());
  const std::vector<nl::RdmaDevice> devices = TRY(nl::rdma_devices(*rdma));
  Errors errors;
  for (const nl::RdmaDevice& device : devices) {
    if (device.name.find('/') != std::string::npos)
      errors.collect(rename_to_free(*rdma, device.index));
  }
  return errors.status();
}

Result<ib::Port> LinuxKernel::port(const Namespace& where, const std::string& rdma_device) {
  NamespaceView* const view = TRY(this->view(where));
  const sysfs::Sysfs* const sysfs = TRY(view->sysfs());
  return sysfs::port(*sysfs, rdma_device, 1);
}

Result<ib::Port> LinuxKernel::port_up_to(const Namespace& where, const std::string& rdma_device,
                                         ib::PKey key) {
  NamespaceView* const view = TRY(this->view(where));
  const sysfs::Sysfs* const sysfs = TRY(view->sysfs());
  return sysfs::port(*sysfs, rdma_device, 1, key);
}

// The netdev of the PF: the kernel takes a VF's GUIDs through it and through nothing else.
Result<IfIndex> LinuxKernel::pf_netdev(const Function& vf) {
  if (!vf.pf) return Error(Code::invalid, vf.address.text() + " is not a VF");
  const std::vector<Netdev> found = TRY(own_netdevs(kHost, *vf.pf));
  if (!found.empty()) return found.front().index;
  return Error(Code::unavailable,
               "the PF " + vf.pf->text() +
                   " has no IPoIB interface in the host's namespace, which is required to set a "
                   "VF's GUIDs and link policy: load ib_ipoib");
}

Result<nl::VfSettings> LinuxKernel::vf_settings(const Function& vf) {
  const IfIndex pf = TRY(pf_netdev(vf));
  const std::vector<nl::VfSettings> all = TRY(nl::vf_settings(host_->route(), pf));
  for (const nl::VfSettings& settings : all) {
    if (settings.vf == nl::VfIndex{vf.vf}) return settings;
  }
  return Error(Code::not_found, "the PF " + vf.pf->text() + " has no VF " + std::to_string(vf.vf));
}

Result<std::vector<nl::LinkAddress>> LinuxKernel::addresses(const Namespace& where,
                                                            IfIndex netdev) {
  NamespaceView* const view = TRY(this->view(where));
  return nl::addresses(view->route(), netdev);
}

Result<std::vector<nl::Route>> LinuxKernel::routes(const Namespace& where, IfIndex netdev) {
  NamespaceView* const view = TRY(this->view(where));
  return nl::routes(view->route(), netdev);
}

Result<HostNetwork> LinuxKernel::host_network() { return read_host_network(host_->route()); }

Status LinuxKernel::set_vf_guids(const Function& vf, ib::Guid node, ib::Guid port) {
  if (node.value() == 0 || port.value() == 0) {
    return Error(Code::invalid, "a VF's GUID cannot be set to 0: all ones means that it has none");
  }
  const IfIndex pf = TRY(pf_netdev(vf));
  return nl::set_vf_guids(host_->route(), pf, nl::VfIndex{vf.vf}, node, port);
}

Status LinuxKernel::set_vf_policy(const Function& vf, LinkPolicy policy) {
  const IfIndex pf = TRY(pf_netdev(vf));
  return nl::set_vf_policy(host_->route(), pf, nl::VfIndex{vf.vf}, policy);
}

Status LinuxKernel::set_driver(const ib::PciAddress& function,
                               const std::optional<std::string>& driver) {
  const sysfs::Sysfs& sysfs = host_sysfs_;
  return driver ? sysfs::bind(sysfs, function, *driver) : sysfs::unbind(sysfs, function);
}

Status LinuxKernel::move_rdma(const Namespace& from, const std::string& device,
                              const Namespace& to) {
  NamespaceView* const source = TRY(view(from));
  NamespaceView* const target = TRY(view(to));
  nl::Socket* const rdma = TRY(source->rdma());
  const std::optional<nl::RdmaDevice> found = TRY(nl::find_rdma_device(*rdma, device));
  if (!found) return Error(Code::not_found, "there is no RDMA device " + device + in(from));
  return source
      ->run([&] { return nl::move_rdma_device(*rdma, found->index, target->netns().fd()); })
      .during("move " + device);
}

Status LinuxKernel::rename_rdma(const Namespace& where, const std::string& device,
                                const std::string& name) {
  NamespaceView* const view = TRY(this->view(where));
  nl::Socket* const rdma = TRY(view->rdma());
  const std::optional<nl::RdmaDevice> found = TRY(nl::find_rdma_device(*rdma, device));
  if (!found) return Error(Code::not_found, "there is no RDMA device " + device + in(where));
  return nl::rename_rdma_device(*rdma, found->index, name);
}

Status LinuxKernel::move_netdev(const Namespace& from, IfIndex netdev, const Namespace& to,
                                const std::string& name) {
  NamespaceView* const source = TRY(view(from));
  NamespaceView* const target = TRY(view(to));
  return nl::move(source->route(), netdev, target->netns().fd(), name);
}

namespace {

Status change_altnames(nl::Socket& route, const Netdev& netdev,
                       const std::vector<std::string>& wanted) {
  for (const std::string& altname : netdev.altnames) {
    if (std::find(wanted.begin(), wanted.end(), altname) == wanted.end()) {
      TRY(nl::remove_altname(route, netdev.index, altname));
    }
  }
  for (const std::string& altname : wanted) {
    if (std::find(netdev.altnames.begin(), netdev.altnames.end(), altname) ==
        netdev.altnames.end()) {
      TRY(nl::add_altname(route, netdev.index, altname));
    }
  }
  return ok();
}

Status change_mode(nl::Socket& route, const Netdev& netdev, const NetdevChange& change) {
  if (!netdev.ipoib || (!change.mode && !change.umcast)) return ok();
  return nl::set_ipoib(route, netdev.index, change.mode.value_or(netdev.ipoib->mode),
                       change.umcast.value_or(netdev.ipoib->umcast));
}

}  // namespace

Status LinuxKernel::change_netdev(const Namespace& where, IfIndex index,
                                  const NetdevChange& change) {
  NamespaceView* const view = TRY(this->view(where));
  nl::Socket& route = view->route();
  // The kernel's calls for these say by themselves that the netdev is gone.
  const bool reports_absence = change.name || change.mtu || change.up;
  std::optional<Netdev> netdev;
  if (!reports_absence || change.altnames || change.mode || change.umcast) {
    netdev = TRY(nl::find_link(route, index));
    if (!netdev) return gone(where);
  }
  if (change.up == false) TRY(nl::set_up(route, index, false));
  if (change.altnames) TRY(change_altnames(route, *netdev, *change.altnames));
  if (change.name) TRY(nl::rename(route, index, *change.name));
  if (change.mode || change.umcast) TRY(change_mode(route, *netdev, change));
  if (change.mtu) TRY(nl::set_mtu(route, index, *change.mtu));
  if (change.up == true) TRY(nl::set_up(route, index, true));
  return ok();
}

Status LinuxKernel::create_child(IfIndex parent, const nl::NewChild& child) {
  return nl::create_child(host_->route(), parent, child);
}

Status LinuxKernel::remove_netdev(const Namespace& where, IfIndex netdev) {
  NamespaceView* const view = TRY(this->view(where));
  return nl::remove_link(view->route(), netdev);
}

// Waits until IPv6 duplicate address detection is through with these addresses. The kernel's own
// link-local one has no say: an IPv4 pod need not wait for it.
Status LinuxKernel::settle(nl::Socket& route, IfIndex netdev,
                           const std::vector<ip::Prefix>& addresses, Deadline deadline) {
  const bool settled = TRY(wait_until(*this, deadline, [&]() -> Result<bool> {
    const std::vector<nl::LinkAddress> now = TRY(nl::addresses(route, netdev));
    bool tentative = false;
    for (const nl::LinkAddress& address : now) {
      if (std::find(addresses.begin(), addresses.end(), address.prefix) == addresses.end())
        continue;
      if (address.failed)
        return Error(Code::exists,
                     address.prefix.text() + " is already in use on this link (duplicate address)");
      tentative = tentative || address.tentative;
    }
    return !tentative;
  }));
  if (settled) return ok();
  const std::optional<Netdev> link = TRY(nl::find_link(route, netdev));
  const bool carrier = link && link->carrier;
  return Error(Code::unavailable,
               std::string("IPv6 duplicate address detection has not finished") +
                   (carrier ? ""
                            : ": the interface has no carrier, as its port is not ACTIVE or "
                              "not in the partition of its P_Key at index 0"));
}

// As other CNI plugins do it: some runtimes make namespaces where new interfaces take no IPv6
// address.
Status LinuxKernel::allow_ipv6(NamespaceView& view, IfIndex netdev,
                               const std::vector<ip::Prefix>& addresses) {
  const bool any = std::any_of(addresses.begin(), addresses.end(), [](const ip::Prefix& prefix) {
    return prefix.address.family() == ip::Family::v6;
  });
  if (!any) return ok();
  const std::optional<Netdev> link = TRY(nl::find_link(view.route(), netdev));
  if (!link) return Error(Code::not_found, "the interface is gone");
  return view.run([&] { return nl::enable_ipv6(link->name); });
}

Status LinuxKernel::configure(const Namespace& where, IfIndex netdev, const Addressing& addressing,
                              Deadline deadline) {
  NamespaceView* const view = TRY(this->view(where));
  const Status done = apply(*view, netdev, addressing, deadline);
  if (done) return done;
  // A pod's network knows its interface by name.
  const Result<std::optional<Netdev>> link = nl::find_link(view->route(), netdev);
  return link && *link ? Status(done.error()).during((*link)->name) : done;
}

Status LinuxKernel::apply(NamespaceView& view, IfIndex netdev, const Addressing& addressing,
                          Deadline deadline) {
  TRY(allow_ipv6(view, netdev, addressing.addresses));
  for (const ip::Prefix& address : addressing.addresses)
    TRY(nl::add_address(view.route(), netdev, address));
  TRY(settle(view.route(), netdev, addressing.addresses, deadline));
  // Behind the addresses: a gateway must be reachable when its route is added.
  for (const nl::Route& route : addressing.routes) TRY(nl::add_route(view.route(), netdev, route));
  return ok();
}

Status LinuxKernel::announce(const Namespace& where, IfIndex index,
                             const std::vector<ip::Prefix>& addresses) {
  NamespaceView* const view = TRY(this->view(where));
  const std::optional<Netdev> netdev = TRY(nl::find_link(view->route(), index));
  if (!netdev) return gone(where);
  return view
      ->run([&]() -> Status {
        for (const ip::Prefix& address : addresses)
          TRY(nl::announce(*netdev, netdev->broadcast, address.address));
        return ok();
      })
      .during("announce " + netdev->name);
}

// True if something was not subscribed to before. Most calls never wait, so nothing is subscribed
// to until the first wait.
Result<bool> LinuxKernel::subscribe() {
  bool is_new = false;
  const auto subscribe_in = [&](NamespaceView& view) -> Status {
    if (view.events() != nullptr) return ok();
    is_new = true;
    return view.subscribe();
  };
  if (!uevents_) {
    nl::Uevents uevents = TRY(nl::Uevents::open());
    uevents_.emplace(std::move(uevents));
    is_new = true;
  }
  TRY(subscribe_in(*host_));
  for (const auto& [path, pod] : pods_) TRY(subscribe_in(*pod));
  return is_new;
}

Result<bool> LinuxKernel::wait_for_change(Deadline deadline) {
  close_other();
  if (deadline.passed()) return false;
  // A change between the caller's look and the subscription makes no event: the caller looks again.
  const bool is_new = TRY(subscribe());
  if (is_new) return true;
  std::vector<pollfd> waiting{{uevents_->fd(), POLLIN, 0}, {host_->events()->fd(), POLLIN, 0}};
  for (const auto& [path, pod] : pods_) waiting.push_back({pod->events()->fd(), POLLIN, 0});
  const Deadline until = deadline.at_most(kLongestWait);
  TRY(sys("poll", [&] {
    return ::poll(waiting.data(), waiting.size(), static_cast<int>(until.left().count()));
  }));
  uevents_->discard_pending();
  host_->events()->discard_pending();
  for (const auto& [path, pod] : pods_) pod->events()->discard_pending();
  return true;
}

}  // namespace ibpod::node
