#include "lib/attach/ipoib_driver.h"

#include "lib/attach/agent_client.h"
#include "lib/attach/attachment_driver.h"
#include "lib/attach/binding.h"
#include "lib/attach/pod.h"
#include "lib/cni/errors.h"
#include "lib/node/child.h"
#include "lib/node/describe.h"
#include "lib/node/vf.h"

#include <algorithm>

#include <net/if_arp.h>

namespace ibpod::attach {
namespace {

// The largest InfiniBand MTU without IPoIB's header of four bytes (RFC 4391 section 7).
constexpr uint32_t kMostDatagram = 4092;

Status check_mtu(const std::optional<uint32_t>& mtu, nl::IpoibMode mode, uint32_t most,
                 const std::string& whose) {
  if (!mtu || mode == nl::IpoibMode::connected || *mtu <= most) return ok();
  return Error(Code::invalid,
               "mtu: " + std::to_string(*mtu) + " exceeds the limit of datagram mode" + whose +
                   " (" + std::to_string(most) + ")" + ": set mode to connected, or a smaller mtu");
}

Status check_is_parent(const node::Netdev& master) {
  if (master.kind == "ipoib" && !master.parent) return ok();
  if (master.type != ARPHRD_INFINIBAND) {
    return Error(Code::invalid, "master: " + master.name + " is not an InfiniBand interface");
  }
  return Error(Code::invalid, "master: " + master.name +
                                  " is itself an IPoIB child: set master to its parent interface, "
                                  "and pkey to its partition");
}

// Without a partition in the network, the pod would be in the master's own partition, unchecked.
Status check_own_key(const Context& context, const node::Spec& spec, const node::Netdev& master) {
  const ib::PKey own = master.ipoib->pkey;
  const bool named = spec.pkey || !spec.partitions.empty();
  if (!context.host.sm_managed || named || own.same_partition(ib::kDefaultFull)) return ok();
  return Error(Code::invalid, "partition: the master " + master.name + " is in " + own.text() +
                                  ", and this node's agent requires a named partition: set "
                                  "partition or pkey in the network");
}

// Writes the partition's key, known by now, into the record. The caller holds the folder's lock.
Status note_key(const Context& context, node::Record& record, ib::PKey key) {
  if (record.child->pkey.same_partition(key)) return ok();
  record.child->pkey = key;
  return timed(context, "write the record", [&] { return context.host.records.write(record); });
}

bool have_partition_in_common(const node::Spec& one, const node::Spec& other) {
  return std::any_of(one.partitions.begin(), one.partitions.end(), [&](const auto& wish) {
    return std::any_of(other.partitions.begin(), other.partitions.end(),
                       [&](const auto& same) { return wish.label() == same.label(); });
  });
}

// True if `other` is a child that its DEL did not find, in another partition that had this key
// before.
bool may_use_key(const node::Record& other, const node::Record& own, ib::PKey key) {
  const bool lost = other.child && other.stage == node::Stage::ending;
  return lost && other.boot_id == own.boot_id && other.child->port == own.child->port &&
         other.child->pkey.same_partition(key) && !have_partition_in_common(other.spec, own.spec);
}

// If the SM service has given the P_Key to another partition since, such a child would be in that
// partition.
Status check_key_is_unused(const Context& context, const node::Record& own, ib::PKey key) {
  if (own.spec.partitions.empty()) return ok();
  const std::vector<node::RecordName> names = TRY(context.host.records.all());
  for (const node::RecordName& name : names) {
    if (!node::is_child_link(name.folder) || name == name_of(own)) continue;
    const Result<node::Record> other = context.host.records.read(name);
    if (!other || !may_use_key(*other, own, key)) continue;
    return Error(Code::busy, "partition: an IPoIB child of " + node::describe_owner(*other) +
                                 " may still use the P_Key " + key.text() + " of " +
                                 own.child->master +
                                 ": end the pod's remaining processes, or reboot the node");
  }
  return ok();
}

// The key that the port needs. A key of the master does not request full membership: the kernel
// adds bit 15 to each key.
ib::PKey key_for(const node::Record& record) {
  return record.spec.pkey.value_or(ib::PKey(record.child->pkey.partition()));
}

// Without carrier, the interface has not joined the partition's broadcast group.
Status await_broadcast_group(const Context& context, const node::Record& record,
                             Deadline deadline) {
  const std::optional<node::Netdev> netdev = TRY(await_carrier(context, record, deadline));
  if (netdev) return ok();
  return Error(Code::unavailable,
               record.ifname + " has no carrier: the port of " + record.child->master +
                   " is not ACTIVE, or the partition " + record.child->pkey.text() +
                   " has no broadcast group that it can join (is it an IPoIB partition?)");
}

// The caller holds the folder's lock.
Status make(const Context& context, node::Record& record) {
  node::Child& child = *record.child;
  const node::Netdev made = TRY(node::make_child(context.host.kernel, record));
  // The port's own limit shows only on a child.
  TRY(check_mtu(record.spec.mtu, child.mode, made.mtu, " on the port of " + child.master));
  child.address = made.address;
  TRY(timed(context, "write the record", [&] { return context.host.records.write(record); }));
  return node::move_child_to_pod(context.host.kernel, record);
}

Status check_child(const node::Record& record, const node::Netdev& now) {
  TRY(check_interface(record, now));
  if (!now.carrier) return differs(record.ifname + " has no carrier");
  if (now.ipoib->mode == record.child->mode) return ok();
  return differs(record.ifname + " is not in the IPoIB mode that ADD set");
}

}  // namespace

std::string IpoibDriver::subject() const {
  return config_.master.empty() ? config_.device.text() : config_.master;
}

std::string IpoibDriver::folder(const cni::Call& call) const {
  return node::child_link(call.container_id, call.ifname);
}

Result<node::Netdev> IpoibDriver::find_master(const Context& context) const {
  if (!config_.master.empty()) {
    const std::optional<node::Netdev> named =
        TRY(context.host.kernel.find_netdev(node::kHost, config_.master));
    if (named) return *named;
    return Error(Code::not_found, "master: the host has no interface " + config_.master);
  }
  const std::optional<node::Netdev> own =
      TRY(node::own_netdev(context.host.kernel, node::kHost, config_.device));
  if (own) return *own;
  return Error(Code::not_found, "the function " + config_.device.text() +
                                    " has no IPoIB interface in the host's namespace: the function "
                                    "does not exist, a pod has it, or ib_ipoib is not loaded");
}

// Later checks look at the first port of an RDMA device, which must be the master's.
Result<ib::Guid> IpoibDriver::port_of(const Context& context, const Master& master) {
  const std::optional<ib::Guid> guid = nl::guid_of(master.netdev.address);
  const std::vector<node::RdmaDevice> devices =
      TRY(context.host.kernel.rdma_devices(node::kHost, master.function));
  const bool there = std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
    return guid && device.port_guid == *guid;
  });
  if (there) return *guid;
  return Error(Code::invalid,
               "master: " + master.netdev.name + " is not on the first port of an RDMA device of " +
                   master.function.text() + " (by the GUID in its hardware address)");
}

Result<IpoibDriver::Master> IpoibDriver::usable_master(const Context& context,
                                                       const node::Spec& spec) const {
  Master master;
  master.netdev = TRY(find_master(context));
  TRY(check_is_parent(master.netdev));
  TRY(check_own_key(context, spec, master.netdev));
  const std::optional<ib::PciAddress> function =
      TRY(context.host.kernel.function_of(master.netdev.name));
  if (!function) {
    return Error(Code::invalid, "master: " + master.netdev.name + " belongs to no PCI function");
  }
  if (!config_.device.empty() && *function != config_.device) {
    return Error(Code::invalid, "master: " + master.netdev.name + " belongs to " +
                                    function->text() + ", but pf is " + config_.device.text() +
                                    ": remove one of the two");
  }
  master.function = *function;
  master.port = TRY(port_of(context, master));
  return master;
}

Status IpoibDriver::check_node(const Context& context) const {
  const bool named = !config_.master.empty() || !config_.device.empty();
  if (named) TRY(check_usable(context));
  return ok();
}

Result<bool> IpoibDriver::resolve(const Context& context, Deadline deadline) {
  if (context.request.call.verb == cni::Verb::add) TRY(check_allocated(context, deadline));
  return true;
}

Result<std::vector<std::string>> IpoibDriver::check_usable(const Context& context) const {
  const Master master = TRY(usable_master(context, config_.spec));
  TRY(check_mtu(config_.spec.mtu, config_.mode.value_or(master.netdev.ipoib->mode), kMostDatagram,
                ""));
  return std::vector<std::string>();
}

Status IpoibDriver::check_allocated(const Context& context, Deadline deadline) const {
  if (context.request.settings.any_device) return ok();
  const node::Netdev master = TRY(find_master(context));
  const std::optional<ib::PciAddress> address = TRY(context.host.kernel.function_of(master.name));
  if (!address) return ok();
  const std::optional<node::Function> function = TRY(context.host.kernel.function(*address));
  if (!function || !function->pf) return ok();
  const auto& kept = context.request.settings.master_vfs;
  if (std::find(kept.begin(), kept.end(), *address) != kept.end()) return ok();
  const std::string key = config_.master.empty() ? "pf" : "master: " + config_.master;
  const std::string advice =
      "name a PF, request the VF's resource in the pod's spec, or, if the host keeps the VF "
      "for all pods, list " +
      address->text() + " under masterVfs";
  return attach::check_allocated(context, key, *address, advice, deadline);
}

Status IpoibDriver::attach(const Context& context, node::Record& record, Deadline deadline) const {
  const Master master = TRY(usable_master(context, record.spec));
  record.device = master.function;
  node::Child& child = record.child.emplace();
  child.link = folder(context.request.call);
  child.master = master.netdev.name;
  child.parent = master.netdev.index;
  child.index = node::choose_index();
  child.port = master.port;
  child.pkey = record.spec.pkey.value_or(master.netdev.ipoib->pkey);
  child.mode = config_.mode.value_or(master.netdev.ipoib->mode);
  child.umcast = config_.umcast;
  TRY(timed(context, "write the record", [&] { return context.host.records.write(record); }));
  return names_partitions(record.spec) ? begin_binding(context, record, deadline) : ok();
}

Result<ReadyResult> IpoibDriver::wait_ready(const Context& context, node::Record& record,
                                            IndexRequirement, Deadline deadline) const {
  // Before the child is made: in a partition without the port it would have no carrier.
  std::optional<TableEntry> membership =
      TRY(await_partitions(context, record, IndexRequirement::any_index, deadline));
  if (!membership)
    TRY(await_partition(context, record, key_for(record), IndexRequirement::any_index, deadline));
  TRY(move_to_pod(context, record, membership ? membership->key : record.child->pkey, deadline));
  TRY(await_broadcast_group(context, record, deadline));
  return ReadyResult{membership, {}};
}

Status IpoibDriver::move_to_pod(const Context& context, node::Record& record, ib::PKey key,
                                Deadline deadline) const {
  const FolderLock lock = TRY(context.host.records.lock(folder(context.request.call), deadline));
  // The lock was not held during the wait for the partition.
  TRY(check_still_ours(context, record));
  TRY(check_key_is_unused(context, record, key));
  TRY(note_key(context, record, key));
  return make(context, record);
}

Status IpoibDriver::publish(const Context&, const node::Record&, const std::optional<TableEntry>&,
                            const std::vector<std::string>&) const {
  return ok();
}

Status IpoibDriver::check(const Context& context, const node::Record& record,
                          IndexRequirement) const {
  if (!record.child) return differs("the record describes another kind of attachment");
  const std::optional<node::ChildPlace> place = TRY(node::find_child(context.host.kernel, record));
  if (!place || place->where.is_host())
    return differs("the IPoIB child of " + record.child->master + " is not in the pod");
  TRY(check_child(record, place->netdev));
  TRY(check_partitions(context, record, IndexRequirement::any_index));
  return check_partition(context, record, key_for(record), IndexRequirement::any_index);
}

Status IpoibDriver::collect_strays(const Context& context) const {
  return remove_stray_children(context);
}

Status remove_stray_children(const Context& context) {
  const std::vector<node::Netdev> strays =
      TRY(node::stray_children(context.host.kernel, context.host.records));
  Errors errors;
  for (const node::Netdev& stray : strays) {
    errors.collect(context.host.kernel.remove_netdev(node::kHost, stray.index), stray.name);
  }
  return errors.status();
}

}  // namespace ibpod::attach
