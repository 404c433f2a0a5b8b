#include "lib/attach/partition.h"

#include "lib/attach/binding.h"
#include "lib/cni/errors.h"
#include "lib/json/value.h"
#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

// What one look at the port has shown.
struct PortView {
  ib::Port port;
  std::optional<ib::PKey> netdev;  // the IPoIB interface's own key
  std::string missing;             // why it is not yet right; empty: it is
  bool at_other_index = false;     // ... that is all: the port is in the partition
  TableEntry membership;
};

std::string explain_missing(const ib::Port& port, ib::PKey wanted, IndexRequirement requirement,
                            PortView& view) {
  if (port.state != ib::PortState::active)
    return "the port is " + std::string(ib::name(port.state)) + ", not ACTIVE";
  const std::optional<size_t> index = ib::find_in(port.pkeys, wanted);
  if (!index) {
    return "the port's P_Key table does not hold " + wanted.text() +
           (wanted.membership() == ib::Membership::full ? " as full member" : "");
  }
  view.membership = {*index, port.pkeys[*index]};
  if (requirement == IndexRequirement::any_index) return "";
  if (!port.pkeys[0].same_partition(wanted)) {
    view.at_other_index = true;
    return wanted.text() + " is at index " + std::to_string(*index) +
           " of the P_Key table, and IPoIB uses index 0 only";
  }
  // Index 0 tells IPoIB the partition; of two keys of that it takes the full one (ib_find_pkey).
  if (wanted.membership() != ib::Membership::full) view.membership = {0, port.pkeys[0]};
  if (!view.netdev || !view.netdev->same_partition(wanted)) {
    return "the IPoIB interface still has the key " +
           (view.netdev ? view.netdev->text() : std::string("of no partition"));
  }
  return "";
}

// A VF has one; a child's is the one with its parent's port.
const node::RdmaDevice* device_of(const std::vector<node::RdmaDevice>& devices,
                                  const node::Record& record) {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& device) {
    return !record.child || device.port_guid == record.child->port;
  });
  return found == devices.end() ? nullptr : &*found;
}

Result<PortView> read_port(const Context& context, const node::Record& record, ib::PKey key,
                           IndexRequirement requirement) {
  PortView view;
  const node::Namespace& where = home_of_rdma(record);
  const std::vector<node::RdmaDevice> devices =
      TRY(context.kernel.rdma_devices(where, record.device));
  view.missing = "its RDMA device is not to be seen";  // being renamed, most likely
  const node::RdmaDevice* const device = device_of(devices, record);
  if (device == nullptr) return view;
  Result<ib::Port> port = context.kernel.port(where, device->name);
  if (!port && port.error().code() == Code::not_found) return view;
  view.port = TRY(std::move(port));
  if (requirement == IndexRequirement::index_0) {
    const std::optional<node::Netdev> netdev =
        TRY(node::own_netdev(context.kernel, record.netns, record.device));
    if (netdev && netdev->ipoib) view.netdev = netdev->ipoib->pkey;
  }
  view.missing = explain_missing(view.port, key, requirement, view);
  return view;
}

std::string details_of(const PortView& view) {
  return "port state " + std::string(ib::name(view.port.state)) + ", LID " +
         std::to_string(view.port.lid) + ", port GUID " + view.port.guid.text() +
         ", P_Key table: " + ib::text(view.port.pkeys);
}

// What does not change by itself is not said to be late.
std::string missing_hint(const PortView& view, const node::Record& record) {
  if (!view.at_other_index)
    return "the subnet manager has not put the GUID " + view.port.guid.text() + " into it (yet)";
  const std::string without = ", or take ipam out of the network";
  if (record.spec.partitions.empty()) return "have the subnet manager put it at index 0" + without;
  return "run `ibpodctl partition update NAME --index0`" + without;
}

void warn_of_others(const Context& context, const PortView& view, ib::PKey wanted) {
  for (size_t i = 0; i < view.port.pkeys.size(); ++i) {
    const ib::PKey key = view.port.pkeys[i];
    if (key.partition() == 0 || key.same_partition(wanted)) continue;
    context.warn("the port is in another partition too: " + key.text() + " at index " +
                 std::to_string(i) + (key == ib::kDefaultFull ? ", open to every port" : ""));
  }
}

}  // namespace

void log_verified(const Context& context, ib::PKey asked, const TableEntry& membership) {
  context.inform("partition " + asked.text() + " is verified: " + membership.key.text() + ", " +
                 std::string(ib::name(membership.key.membership())) + " member, at index " +
                 std::to_string(membership.index));
}

const node::Namespace& home_of_rdma(const node::Record& record) {
  return record.spec.isolation ? record.netns : node::kHost;
}

Result<TableEntry> await_partition(const Context& context, const node::Record& record, ib::PKey key,
                                   IndexRequirement requirement, Deadline deadline) {
  PortView view;
  const bool there = TRY(node::wait_until(context.kernel, deadline, [&]() -> Result<bool> {
    view = TRY(read_port(context, record, key, requirement));
    return view.missing.empty();
  }));
  if (!there) {
    const std::string state = view.at_other_index ? " cannot be used here: " : " is not there: ";
    return Error(Code::unavailable, "partition " + key.text() + state + view.missing + "; " +
                                        missing_hint(view, record))
        .with_details(details_of(view));
  }
  // What an SM service has bound is in no other one: it has looked.
  if (!record.child && record.spec.partitions.empty()) warn_of_others(context, view, key);
  return view.membership;
}

Status check_partition(const Context& context, const node::Record& record, ib::PKey key,
                       IndexRequirement requirement) {
  // No waiting: it was verified once.
  TRY(await_partition(context, record, key, requirement, Deadline::in(Duration(0)))
          .reported_as(cni::kCheckFailed));
  return ok();
}

Status check_partitions(const Context& context, const node::Record& record,
                        IndexRequirement requirement) {
  if (record.spec.pkey) TRY(check_partition(context, record, *record.spec.pkey, requirement));
  const std::vector<ib::PKey> keys = TRY(bound_keys(context, record));
  for (size_t n = 0; n < keys.size(); ++n)
    TRY(check_partition(context, record, keys[n],
                        n == 0 ? requirement : IndexRequirement::any_index));
  return ok();
}

Result<std::optional<TableEntry>> await_partitions(const Context& context,
                                                   const node::Record& record,
                                                   IndexRequirement requirement,
                                                   Deadline deadline) {
  const BindingResult bound = TRY(await_binding(context, record, deadline));
  const std::vector<ib::PKey> keys = record.spec.pkey ? std::vector{*record.spec.pkey} : bound.keys;
  std::optional<TableEntry> first;
  for (const ib::PKey key : keys) {
    const IndexRequirement where = first ? IndexRequirement::any_index : requirement;
    const TableEntry membership = TRY(await_partition(context, record, key, where, deadline));
    log_verified(context, key, membership);
    if (!first) first = membership;
  }
  return first;
}

}  // namespace ibpod::attach
