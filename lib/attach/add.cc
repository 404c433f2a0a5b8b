#include "lib/attach/add.h"

#include "lib/attach/addresses.h"
#include "lib/attach/claim.h"
#include "lib/attach/device_info.h"
#include "lib/attach/node_rules.h"
#include "lib/attach/partition.h"
#include "lib/attach/release.h"
#include "lib/cni/errors.h"
#include "lib/ib/hex.h"
#include "lib/node/vf.h"

#include <random>

namespace ibpod::attach {
namespace {

// How long an interface may take from an ACTIVE port to carrier: one join of the broadcast group.
constexpr Duration kCarrier{3000};

Result<node::Namespace> pod_namespace(const Context& context) {
  const std::optional<node::Namespace> pod = TRY(context.kernel.find_namespace(context.call.netns)
                                                     .during("CNI_NETNS")
                                                     .reported_as(cni::kInvalidEnvironment));
  if (!pod) {
    return Error(Code::not_found,
                 "CNI_NETNS: there is no network namespace at " + context.call.netns.string())
        .reported_as(cni::kUnknownContainer);
  }
  const bool own = TRY(is_own_namespace(context, *pod));
  if (own) {
    return Error(Code::invalid, "CNI_NETNS: " + context.call.netns.string() +
                                    " is the host's own network namespace: a pod with hostNetwork "
                                    "needs no attachment")
        .reported_as(cni::kInvalidEnvironment);
  }
  return *pod;
}

// A pod may end while its ADD waits, and what is given then would be nobody's to give back.
Status check_still_there(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Namespace> now = TRY(context.kernel.find_namespace(pod.path));
  if (now == pod) return ok();
  return Error(Code::not_found, "CNI_NETNS: the network namespace " + pod.path.string() +
                                    " has ended while the attachment was being made")
      .reported_as(cni::kUnknownContainer);
}

Status check_name_is_free(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Netdev> taken =
      TRY(context.kernel.find_netdev(pod, context.call.ifname));
  if (!taken) return ok();
  return Error(Code::exists, "CNI_IFNAME: the pod already has an interface " + context.call.ifname);
}

Result<node::Function> usable_function(const Context& context, const Order& order) {
  const std::optional<node::Function> function = TRY(context.kernel.function(order.device));
  const std::string device = "deviceID " + order.device.text();
  if (!function)
    return Error(Code::not_found, device + ": there is no such PCI function on this node");
  const bool vfio = function->driver && node::is_vfio(*function->driver);
  if (order.vfio && !vfio) {
    return Error(Code::invalid, "vfioPciMode: " + device + " is bound to " +
                                    function->driver.value_or("no driver") +
                                    ", not to vfio-pci: bind it, or leave vfioPciMode out");
  }
  if (!function->pf && !vfio) {
    return Error(Code::invalid, device +
                                    " is a physical function: give one of its VFs, or bind it to "
                                    "vfio-pci to pass all of it to a virtual machine");
  }
  return *function;
}

// Everything that can be refused without touching the device.
struct Prepared {
  node::Namespace pod;
  node::Function function;  // as it was before anything was done to it
  std::optional<cni::Ipam> ipam;
};

Result<Prepared> prepare(const Context& context, const Order& order, Deadline deadline) {
  Prepared prepared;
  prepared.pod = TRY(pod_namespace(context));
  TRY(check_name_is_free(context, prepared.pod));
  prepared.function = TRY(usable_function(context, order));
  if (order.wanted.isolation) TRY(check_isolation(context));
  prepared.ipam = TRY(ipam_of(context.network, context.call));
  if (prepared.ipam) {
    TRY(timed(context, "IPAM VERSION", [&] { return prepared.ipam->check_version(deadline); }));
  }
  return prepared;
}

Status check_has_guid(const node::Record& record) {
  if (record.wanted.guids || !record.found.guids || !record.found.guids->none()) return ok();
  return Error(Code::invalid, "the VF " + record.device.text() + " has no GUID (" +
                                  record.found.guids->port.text() +
                                  "), and none is asked for. Ask for one "
                                  "(runtimeConfig.infinibandGUID, args.cni.guid or guid), or give "
                                  "the VF one beforehand: ip link set PF vf N node_guid GUID, the "
                                  "same with port_guid, then bind it anew");
}

node::Record begin_record(const Context& context, const Order& order, const node::Namespace& pod) {
  node::Record record;
  record.plugin = context.plugin;
  record.attempt = ib::hex(std::random_device()(), 8);
  record.network = context.network.name;
  record.container_id = context.call.container_id;
  record.ifname = context.call.ifname;
  record.pod = {context.call.pod.name_space, context.call.pod.name, context.call.pod.uid};
  record.device = order.device;
  record.netns = pod;
  record.boot_id = context.boot_id;
  record.wanted = order.wanted;
  record.configuration = context.network.text;
  record.cni_args = context.call.args;
  for (const Path& folder : context.call.path)
    record.cni_path += (record.cni_path.empty() ? "" : ":") + folder.string();
  return record;
}

// What a device on vfio-pci cannot be given is not given, and said.
void drop_what_vfio_cannot(const Context& context, const node::Function& function,
                           node::Wanted& wanted) {
  std::string dropped;
  const auto drop = [&](bool asked, const std::string& key) {
    if (asked) dropped += (dropped.empty() ? "" : ", ") + key;
  };
  drop(wanted.mtu.has_value(), "mtu");
  wanted.mtu.reset();
  drop(wanted.isolation, "rdmaIsolation");
  if (!function.pf) {
    drop(wanted.guids.has_value(), "guid");
    drop(wanted.policy.has_value(), "link_state");
    wanted.guids.reset();
    wanted.policy.reset();
  }
  if (!dropped.empty()) context.warn("without effect on a device on vfio-pci: " + dropped);
}

// A kernel that finds a step invalid does not mean the configuration; but an MTU it does.
Status give(const Context& context, const node::Record& record, Deadline deadline) {
  Status given = node::give(context.kernel, record, deadline);
  const bool refused =
      !given && given.error().error_number() != 0 &&
      (given.error().code() == Code::invalid || given.error().code() == Code::not_found);
  if (!refused || record.wanted.mtu) return given;
  return std::move(given).reported_as(cni::kInternal);
}

// Under the device's lock: from the first look to the interface in the pod.
Status hand_over(const Context& context, node::Record& record, const Order& order,
                 Deadline deadline) {
  TRY(check_still_there(context, record.netns));
  const node::Function function = TRY(usable_function(context, order));
  if (function.pf) {
    record.found = TRY(node::observe(context.kernel, function, record.wanted));
  } else {
    record.found.driver = *function.driver;  // nothing is done to a PF
  }
  if (node::is_vfio(record.found.driver)) drop_what_vfio_cannot(context, function, record.wanted);
  TRY(check_has_guid(record));
  TRY(node::check_children(record));
  TRY(timed(context, "write the record", [&] { return context.records.write(record); }));
  return give(context, record, deadline);
}

Result<std::optional<Membership>> join_partition(const Context& context, const node::Record& record,
                                                 Place place, Deadline deadline) {
  if (!record.wanted.pkey) return std::optional<Membership>();
  if (node::is_vfio(record.found.driver)) {
    context.warn("partition " + record.wanted.pkey->text() +
                 " is not verified: a device on vfio-pci has no port on this node");
    return std::optional<Membership>();
  }
  const Membership membership = TRY(await_partition(context, record, place, deadline));
  context.inform("partition " + record.wanted.pkey->text() + " is verified: " +
                 membership.key.text() + ", " + std::string(ib::name(membership.key.membership())) +
                 " member, at index " + std::to_string(membership.index));
  return std::optional<Membership>(membership);
}

Status announce(const Context& context, const node::Record& record,
                const node::Addressing& addressing, Deadline deadline) {
  if (addressing.addresses.empty()) return ok();
  std::optional<node::Netdev> netdev;
  const bool carrier =
      TRY(node::wait_until(context.kernel, deadline.at_most(kCarrier), [&]() -> Result<bool> {
        netdev = TRY(context.kernel.find_netdev(record.netns, record.ifname));
        return netdev && netdev->carrier;
      }));
  if (carrier) return context.kernel.announce(record.netns, netdev->index, addressing.addresses);
  context.warn("the addresses are not announced: " + record.ifname + " has no carrier yet");
  return ok();
}

// The network's IPAM, and what it may have reserved by now.
enum class Reserved { nothing, refused, perhaps };
struct Addressed {
  const std::optional<cni::Ipam>& ipam;
  Reserved reserved = Reserved::nothing;
};

Result<cni::AddResult> ask_ipam(const Context& context, Addressed& addressed, Deadline deadline) {
  Result<cni::AddResult> result =
      timed(context, "IPAM ADD", [&] { return addressed.ipam->add(deadline); });
  // Only one that says no in words has surely reserved nothing.
  const bool refused = !result && result.error().code() == Code::denied;
  addressed.reserved = refused ? Reserved::refused : Reserved::perhaps;
  return result;
}

// IPAM's answer, in the pod's interface.
Result<cni::AddResult> assign_addresses(const Context& context, const node::Record& record,
                                        Addressed& addressed, Deadline deadline) {
  cni::AddResult result = TRY(ask_ipam(context, addressed, deadline));
  for (cni::IpConfig& ip : result.ips) ip.interface = 0;
  if (node::is_vfio(record.found.driver)) return result;
  const std::optional<node::Netdev> netdev =
      TRY(context.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return Error(Code::unavailable, record.ifname + " has disappeared from the pod");
  const node::Addressing addressing = addressing_of(result);
  TRY(context.kernel.configure(record.netns, netdev->index, addressing, deadline));
  const Status announced = announce(context, record, addressing, deadline);
  // The neighbours will find out by themselves, in a minute or so.
  if (!announced) context.warn("the addresses are not announced: " + announced.error().text());
  return result;
}

Result<cni::Interface> interface_of(const Context& context, const node::Record& record) {
  cni::Interface interface;
  interface.name = record.ifname;
  interface.sandbox = record.netns.path.string();
  interface.pci_id = record.device.text();
  if (node::is_vfio(record.found.driver)) return interface;
  const std::optional<node::Netdev> netdev =
      TRY(context.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return Error(Code::unavailable, record.ifname + " has disappeared from the pod");
  interface.mac = nl::text(netdev->address);
  interface.mtu = netdev->mtu;
  return interface;
}

// Without a device-info file nobody corrects what the container is about to be allowed.
void warn_of_other_char_devices(const Context& context, const node::Function& before,
                                const node::Function& now) {
  if (before.char_devices == now.char_devices) return;
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
  };
  context.warn("the RDMA character devices of " + now.address.text() + " are " +
               list(now.char_devices) + " now, were " + list(before.char_devices) +
               ", and there is no CNIDeviceInfoFile to correct: the container may be allowed the "
               "wrong ones");
}

Status tell_devices(const Context& context, const Order& order, const node::Function& before,
                    const std::optional<Membership>& membership) {
  const std::optional<node::Function> now = TRY(context.kernel.function(order.device));
  if (!now) return ok();
  if (!order.device_info.empty()) {
    return write_device_info(order.device_info, *now, membership).during("CNIDeviceInfoFile");
  }
  warn_of_other_char_devices(context, before, *now);
  return ok();
}

// A DEL may have come while IPAM was asked, and with it nobody is left to give the addresses back.
Status check_still_ours(const Context& context, const node::Record& record) {
  const Result<node::Record> now = context.records.read(name_of(record));
  if (now && *now == record) return check_still_there(context, record.netns);
  return Error(Code::unavailable, "the attachment was deleted while it was being made");
}

Result<cni::AddResult> complete(const Context& context, const node::Record& record,
                                const Order& order, const node::Function& before,
                                Addressed& addressed, Deadline deadline) {
  const bool ipam = addressed.ipam.has_value();
  const std::optional<Membership> membership =
      TRY(join_partition(context, record, place_for(ipam), deadline));
  cni::AddResult result;
  if (ipam) result = TRY(assign_addresses(context, record, addressed, deadline));
  const cni::Interface interface = TRY(interface_of(context, record));
  result.interfaces = {interface};
  if (result.dns.is_null()) result.dns = context.network.dns;
  TRY(tell_devices(context, order, before, membership));
  TRY(check_still_ours(context, record));
  return result;
}

// Whatever IPAM may have reserved goes back, also for an attachment whose record a DEL has taken
// away. One that has refused the ADD and refuses the DEL as well keeps no VF out of service.
Status return_addresses(const Context& context, const Addressed& addressed) {
  if (addressed.reserved == Reserved::nothing) return ok();
  Status returned =
      timed(context, "IPAM DEL", [&] { return addressed.ipam->del(Deadline::in(kUndoTime)); });
  const bool refused = !returned && returned.error().code() == Code::denied;
  if (addressed.reserved != Reserved::refused || !refused) return returned;
  context.warn("IPAM refused the DEL, too: " + returned.error().text());
  return ok();
}

// The first error stands; what could not be undone is added to it.
Error undo(const Context& context, const node::Record& record, Status addresses, Error error) {
  const Status undone =
      release(context, name_of(record), Deadline::in(kUndoTime), std::move(addresses));
  if (undone) return error;
  return std::move(error).also(
      Error(undone.error()).during("and it could not be undone yet, the record stays"));
}

}  // namespace

Result<cni::AddResult> add(const Context& context, const Order& order) {
  const Deadline deadline = Deadline::in(order.timeout);
  const Prepared prepared = TRY(prepare(context, order, deadline));
  node::Record record = begin_record(context, order, prepared.pod);
  std::optional<FolderLock> lock = TRY(claim(context, name_of(record), deadline));
  const Status handed_over = hand_over(context, record, order, deadline);
  lock.reset();
  if (!handed_over) return undo(context, record, ok(), handed_over.error());
  Addressed addressed{prepared.ipam};
  Result<cni::AddResult> result =
      complete(context, record, order, prepared.function, addressed, deadline);
  if (result) return result;
  Status returned = return_addresses(context, addressed);
  return undo(context, record, std::move(returned), result.error());
}

}  // namespace ibpod::attach
