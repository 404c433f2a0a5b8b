#include "lib/node/linux_kernel.h"

#include "lib/base/run_on_thread.h"
#include "lib/ib/hex.h"
#include "lib/netns/each_namespace.h"
#include "lib/nl/announce.h"
#include "lib/nl/rtnl.h"
#include "lib/node/listing.h"
#include "lib/node/names.h"
#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"

#include <algorithm>
#include <random>

#include <poll.h>

namespace ibpod::node {
namespace {

// A port's state and its P_Key table change without any event that a netlink socket would see (only
// an open verbs context is told), so no wait is longer than this.
constexpr Duration kLongestWait{25};
constexpr int kRenameAttempts = 3;

std::string in(const Namespace& where) {
  return where.is_host() ? " in the host's namespace" : " in " + where.path.string();
}

Path path_of(const netns::NetNs& held) {
  return "/proc/self/fd/" + std::to_string(held.fd().get());
}

}  // namespace

// To be called in that namespace.
Result<LinuxKernel::View> LinuxKernel::open_view(netns::NetNs netns, sysfs::Sysfs sysfs) {
  const netns::Identity identity = TRY(netns.identity_inside());
  nl::Socket route = TRY(nl::Socket::open(nl::Family::route));
  nl::Socket events = TRY(nl::Socket::open(nl::Family::route));
  TRY(events.subscribe_to_links());
  return View{std::move(netns), identity,         std::move(route),
              std::nullopt,     std::move(sysfs), std::move(events)};
}

// All of it on one thread: each costs as much as what it opens. Nothing is opened in a namespace
// that is another one than `where`.
Result<LinuxKernel::View> LinuxKernel::open_pod_view(const Namespace& where) {
  netns::NetNs netns = TRY(netns::NetNs::open(where.path));
  const netns::NetNs& there = netns;
  Result<View> opened = Error(Code::internal, "not opened");
  TRY(run_in_netns(there.fd(), "enter a network namespace", [&]() -> Status {
    const netns::Identity identity = TRY(there.identity_inside());
    if (identity != where.identity) {
      opened = Error(Code::not_found,
                     where.path.string() + ": the namespace is gone, and another one has its path");
      return ok();
    }
    Result<sysfs::Sysfs> sysfs = sysfs::Sysfs::of_own_netns();
    opened = sysfs ? open_view(std::move(netns), std::move(*sysfs)) : Result<View>(sysfs.error());
    return ok();
  }));
  return opened;
}

Result<nl::Socket*> LinuxKernel::rdma_of(View& view) {
  if (!view.rdma) {
    nl::Socket socket = TRY(nl::Socket::open_in(view.netns.fd(), nl::Family::rdma));
    view.rdma.emplace(std::move(socket));
  }
  return &*view.rdma;
}

Result<std::unique_ptr<LinuxKernel>> LinuxKernel::open(const Path& sys) {
  netns::NetNs netns = TRY(netns::NetNs::current());
  sysfs::Sysfs sysfs = TRY(sysfs::Sysfs::open(sys));
  View host = TRY(open_view(std::move(netns), std::move(sysfs)));
  nl::Uevents uevents = TRY(nl::Uevents::open());
  return std::unique_ptr<LinuxKernel>(new LinuxKernel(std::move(host), std::move(uevents)));
}

Result<LinuxKernel::View*> LinuxKernel::view(const Namespace& where) {
  if (where.is_host()) return &host_;
  const auto known = pods_.find(where.path);
  if (known != pods_.end() && known->second.identity == where.identity) return &known->second;
  View opened = TRY(open_pod_view(where));
  return &pods_.insert_or_assign(where.path, std::move(opened)).first->second;
}

Result<std::optional<Function>> LinuxKernel::function(const ib::PciAddress& address) {
  const sysfs::Sysfs& sysfs = host_.sysfs;
  if (!sysfs::exists(sysfs, address)) return std::optional<Function>();
  Function function;
  function.address = address;
  function.driver = TRY(sysfs::driver(sysfs, address));
  function.char_devices = TRY(sysfs::char_devices(sysfs, address));
  function.pf = TRY(sysfs::pf_of(sysfs, address));
  if (function.pf) function.vf = TRY(sysfs::vf_index(sysfs, *function.pf, address));
  return std::optional<Function>(std::move(function));
}

Result<nl::RdmaNetnsMode> LinuxKernel::rdma_netns_mode() {
  nl::Socket* const rdma = TRY(rdma_of(host_));
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
    if (identity == host_.identity) return false;
    other_.emplace(std::move(netns));
    const bool enough = TRY(visit({path_of(*other_), identity}));
    if (!enough) close_other();
    return enough;
  };
  return netns::each_namespace(look_at_other, deadline);
}

// If the namespace is open here already, its identity is known.
Result<netns::Identity> LinuxKernel::identity_of(const netns::NetNs& netns,
                                                 const Path& path) const {
  const bool is_host = TRY(netns.is_same(host_.netns));
  if (is_host) return host_.identity;
  const auto known = pods_.find(path);
  if (known == pods_.end()) return netns.identity();
  const bool is_known = TRY(netns.is_same(known->second.netns));
  return is_known ? known->second.identity : netns.identity();
}

Result<std::optional<Namespace>> LinuxKernel::find_namespace(const Path& path) {
  close_other();
  Result<netns::NetNs> netns = netns::NetNs::open(path);
  const bool gone = !netns && netns.error().code() == Code::not_found;
  // A descriptor of ours keeps it alive, and keeps its devices from coming home.
  if (gone) pods_.erase(path);
  if (gone) return std::optional<Namespace>();
  if (!netns) return std::move(netns).error();
  const netns::Identity identity = TRY(identity_of(*netns, path));
  const auto known = pods_.find(path);
  if (known != pods_.end() && known->second.identity != identity) pods_.erase(known);
  return std::optional<Namespace>(Namespace{path, identity});
}

Result<netns::NetnsStatus> LinuxKernel::namespace_status(const Namespace& recorded) {
  return netns::netns_status(recorded.path, recorded.identity, {});
}

Result<std::optional<Netdev>> LinuxKernel::find_netdev(const Namespace& where,
                                                       const std::string& name) {
  View* const view = TRY(this->view(where));
  return nl::find_link(view->route, name);
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
  View* const view = TRY(this->view(where));
  return list_netdevs(view->sysfs, view->route, function, pause());
}

Result<std::vector<Netdev>> LinuxKernel::ipoib_netdevs(const Namespace& where) {
  View* const view = TRY(this->view(where));
  std::vector<Netdev> all = TRY(nl::links(view->route));
  std::erase_if(all, [](const Netdev& netdev) { return netdev.kind != "ipoib"; });
  std::sort(all.begin(), all.end(),
            [](const Netdev& a, const Netdev& b) { return a.index < b.index; });
  return all;
}

Result<std::vector<uint32_t>> LinuxKernel::ipoib_queue_pairs(const ib::PciAddress& function) {
  const std::vector<RdmaDevice> devices = TRY(rdma_devices(kHost, function));
  nl::Socket* const rdma = TRY(rdma_of(host_));
  std::vector<uint32_t> numbers;
  for (const RdmaDevice& device : devices) {
    const std::optional<nl::RdmaDevice> found = TRY(nl::find_rdma_device(*rdma, device.name));
    if (!found) return Error(Code::unavailable, device.name + " has disappeared");
    const std::vector<nl::KernelQueuePair> pairs = TRY(nl::kernel_queue_pairs(*rdma, found->index));
    for (const nl::KernelQueuePair& pair : pairs) {
      if (pair.owner == "ib_ipoib") numbers.push_back(pair.number);
    }
  }
  return numbers;
}

Result<std::optional<ib::PciAddress>> LinuxKernel::function_of(const std::string& netdev) {
  return sysfs::function_of_netdev(host_.sysfs, netdev);
}

Result<std::vector<RdmaDevice>> LinuxKernel::rdma_devices(const Namespace& where,
                                                          const ib::PciAddress& function) {
  View* const view = TRY(this->view(where));
  auto listed = list_rdma_devices(view->sysfs, function, pause());
  if (listed || listed.error().error_number() != EIO) return listed;
  const Status renamed = rename_unlistable(*view);
  listed = list_rdma_devices(view->sysfs, function, pause());
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
Status LinuxKernel::rename_unlistable(View& view) {
  nl::Socket* const rdma = TRY(rdma_of(view));
  const std::vector<nl::RdmaDevice> devices = TRY(nl::rdma_devices(*rdma));
  Errors errors;
  for (const nl::RdmaDevice& device : devices) {
    if (device.name.find('/') != std::string::npos)
      errors.collect(rename_to_free(*rdma, device.index));
  }
  return errors.status();
}

Result<ib::Port> LinuxKernel::port(const Namespace& where, const std::string& rdma_device) {
  View* const view = TRY(this->view(where));
  return sysfs::port(view->sysfs, rdma_device, 1);
}

// The netdev of the PF: the kernel takes a VF's GUIDs through it and through nothing else.
Result<IfIndex> LinuxKernel::pf_netdev(const Function& vf) {
  if (!vf.pf) return Error(Code::invalid, vf.address.text() + " is not a VF");
  const std::vector<Netdev> found = TRY(netdevs(kHost, *vf.pf));
  for (const Netdev& netdev : found) {
    if (!netdev.parent) return netdev.index;
  }
  return Error(Code::unavailable,
               "the PF " + vf.pf->text() +
                   " has no IPoIB interface in the host's namespace, which is required to set a "
                   "VF's GUIDs and link policy: load ib_ipoib");
}

Result<nl::VfSettings> LinuxKernel::vf_settings(const Function& vf) {
  const IfIndex pf = TRY(pf_netdev(vf));
  const std::vector<nl::VfSettings> all = TRY(nl::vf_settings(host_.route, pf));
  for (const nl::VfSettings& settings : all) {
    if (settings.vf == nl::VfIndex{vf.vf}) return settings;
  }
  return Error(Code::not_found, "the PF " + vf.pf->text() + " has no VF " + std::to_string(vf.vf));
}

Result<std::vector<nl::LinkAddress>> LinuxKernel::addresses(const Namespace& where,
                                                            IfIndex netdev) {
  View* const view = TRY(this->view(where));
  return nl::addresses(view->route, netdev);
}

Result<std::vector<nl::Route>> LinuxKernel::routes(const Namespace& where, IfIndex netdev) {
  View* const view = TRY(this->view(where));
  return nl::routes(view->route, netdev);
}

Result<HostNetwork> LinuxKernel::host_network() { return read_host_network(host_.route); }

Status LinuxKernel::set_vf_guids(const Function& vf, ib::Guid node, ib::Guid port) {
  if (node.value() == 0 || port.value() == 0) {
    return Error(Code::invalid, "a VF's GUID cannot be set to 0: all ones means that it has none");
  }
  const IfIndex pf = TRY(pf_netdev(vf));
  return nl::set_vf_guids(host_.route, pf, nl::VfIndex{vf.vf}, node, port);
}

Status LinuxKernel::set_vf_policy(const Function& vf, LinkPolicy policy) {
  const IfIndex pf = TRY(pf_netdev(vf));
  return nl::set_vf_policy(host_.route, pf, nl::VfIndex{vf.vf}, policy);
}

Status LinuxKernel::set_driver(const ib::PciAddress& function,
                               const std::optional<std::string>& driver) {
  return driver ? sysfs::bind(host_.sysfs, function, *driver)
                : sysfs::unbind(host_.sysfs, function);
}

Status LinuxKernel::move_rdma(const Namespace& from, const std::string& device,
                              const Namespace& to) {
  View* const source = TRY(view(from));
  View* const target = TRY(view(to));
  nl::Socket* const rdma = TRY(rdma_of(*source));
  const std::optional<nl::RdmaDevice> found = TRY(nl::find_rdma_device(*rdma, device));
  if (!found) return Error(Code::not_found, "there is no RDMA device " + device + in(from));
  const auto move = [&] { return nl::move_rdma_device(*rdma, found->index, target->netns.fd()); };
  if (from.is_host()) return move();
  return run_in_netns(source->netns.fd(), "move " + device, move);
}

Status LinuxKernel::rename_rdma(const Namespace& where, const std::string& device,
                                const std::string& name) {
  View* const view = TRY(this->view(where));
  nl::Socket* const rdma = TRY(rdma_of(*view));
  const std::optional<nl::RdmaDevice> found = TRY(nl::find_rdma_device(*rdma, device));
  if (!found) return Error(Code::not_found, "there is no RDMA device " + device + in(where));
  return nl::rename_rdma_device(*rdma, found->index, name);
}

Status LinuxKernel::move_netdev(const Namespace& from, IfIndex netdev, const Namespace& to,
                                const std::string& name) {
  View* const source = TRY(view(from));
  View* const target = TRY(view(to));
  return nl::move(source->route, netdev, target->netns.fd(), name);
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
  View* const view = TRY(this->view(where));
  nl::Socket& route = view->route;
  const std::optional<Netdev> netdev = TRY(nl::find_link(route, index));
  if (!netdev) return Error(Code::not_found, "the interface is gone" + in(where));
  if (change.up == false) TRY(nl::set_up(route, index, false));
  if (change.altnames) TRY(change_altnames(route, *netdev, *change.altnames));
  if (change.name) TRY(nl::rename(route, index, *change.name));
  TRY(change_mode(route, *netdev, change));
  if (change.mtu) TRY(nl::set_mtu(route, index, *change.mtu));
  if (change.up == true) TRY(nl::set_up(route, index, true));
  return ok();
}

Status LinuxKernel::create_child(IfIndex parent, const nl::NewChild& child) {
  return nl::create_child(host_.route, parent, child);
}

Status LinuxKernel::remove_netdev(const Namespace& where, IfIndex netdev) {
  View* const view = TRY(this->view(where));
  return nl::remove_link(view->route, netdev);
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
Status LinuxKernel::allow_ipv6(View& view, IfIndex netdev,
                               const std::vector<ip::Prefix>& addresses) {
  const bool any = std::any_of(addresses.begin(), addresses.end(), [](const ip::Prefix& prefix) {
    return prefix.address.family() == ip::Family::v6;
  });
  if (!any) return ok();
  const std::optional<Netdev> link = TRY(nl::find_link(view.route, netdev));
  if (!link) return Error(Code::not_found, "the interface is gone");
  return nl::enable_ipv6(view.netns.fd(), link->name);
}

Status LinuxKernel::configure(const Namespace& where, IfIndex netdev, const Addressing& addressing,
                              Deadline deadline) {
  View* const view = TRY(this->view(where));
  const Status done = apply(*view, netdev, addressing, deadline);
  if (done) return done;
  // A pod's network knows its interface by name.
  const Result<std::optional<Netdev>> link = nl::find_link(view->route, netdev);
  return link && *link ? Status(done.error()).during((*link)->name) : done;
}

Status LinuxKernel::apply(View& view, IfIndex netdev, const Addressing& addressing,
                          Deadline deadline) {
  TRY(allow_ipv6(view, netdev, addressing.addresses));
  for (const ip::Prefix& address : addressing.addresses)
    TRY(nl::add_address(view.route, netdev, address));
  TRY(settle(view.route, netdev, addressing.addresses, deadline));
  // Behind the addresses: a gateway must be reachable when its route is added.
  for (const nl::Route& route : addressing.routes) TRY(nl::add_route(view.route, netdev, route));
  return ok();
}

Status LinuxKernel::announce(const Namespace& where, IfIndex index,
                             const std::vector<ip::Prefix>& addresses) {
  View* const view = TRY(this->view(where));
  const std::optional<Netdev> netdev = TRY(nl::find_link(view->route, index));
  if (!netdev) return Error(Code::not_found, "the interface is gone" + in(where));
  return run_in_netns(view->netns.fd(), "announce " + netdev->name, [&]() -> Status {
    for (const ip::Prefix& address : addresses)
      TRY(nl::announce(*netdev, netdev->broadcast, address.address));
    return ok();
  });
}

Result<bool> LinuxKernel::wait_for_change(Deadline deadline) {
  close_other();
  if (deadline.passed()) return false;
  std::vector<pollfd> waiting{{uevents_.fd(), POLLIN, 0}, {host_.events.fd(), POLLIN, 0}};
  for (const auto& [path, pod] : pods_) waiting.push_back({pod.events.fd(), POLLIN, 0});
  const Deadline until = deadline.at_most(kLongestWait);
  TRY(sys("poll", [&] {
    return ::poll(waiting.data(), waiting.size(), static_cast<int>(until.left().count()));
  }));
  uevents_.discard_pending();
  host_.events.discard_pending();
  for (auto& [path, pod] : pods_) pod.events.discard_pending();
  return true;
}

}  // namespace ibpod::node
