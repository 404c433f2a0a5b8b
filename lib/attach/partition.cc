#include "lib/attach/partition.h"

#include "lib/attach/binding.h"
#include "lib/cni/errors.h"
#include "lib/json/value.h"
#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

// One reading of the port.
struct PortView {
  ib::Port port;
  std::optional<ib::PKey> netdev;  // the IPoIB interface's own key
  std::string missing;             // the requirement that is not met; empty: all are
  bool at_other_index = false;     // ... because the key is at another index than required
  bool not_in_table = false;       // ... because the table has no such key
  TableEntry membership;
};

std::string explain_missing(const ib::Port& port, ib::PKey wanted, IndexRequirement requirement,
                            PortView& view) {
  if (port.state != ib::PortState::active)
    return "the port is " + std::string(ib::name(port.state)) + ", not ACTIVE";
  const std::optional<size_t> index = ib::find_in(port.pkeys, wanted);
  if (!index) {
    view.not_in_table = true;
    return "the P_Key table of port GUID " + port.guid.text() + " does not contain it" +
           (wanted.membership() == ib::Membership::full ? " as full member" : "");
  }
  view.membership = {*index, port.pkeys[*index]};
  if (requirement == IndexRequirement::any_index) return "";
  if (!port.pkeys[0].same_partition(wanted)) {
    view.at_other_index = true;
    return wanted.text() + " is at index " + std::to_string(*index) +
           " of the P_Key table, and IPoIB uses index 0 only";
  }
  // IPoIB takes its partition from index 0, and uses the full key of that partition if the table
  // has both (ib_find_pkey).
  if (wanted.membership() != ib::Membership::full) view.membership = {0, port.pkeys[0]};
  if (!view.netdev || !view.netdev->same_partition(wanted)) {
    return "the IPoIB interface still has " +
           (view.netdev ? "the P_Key " + view.netdev->text() : "no P_Key");
  }
  return "";
}

// A VF has one device; a child's is the one with its parent's port.
const node::RdmaDevice* device_of(const std::vector<node::RdmaDevice>& devices,
                                  const node::Record& record) {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& device) {
    return !record.child || device.port_guid == record.child->port;
  });
  return found == devices.end() ? nullptr : &*found;
}

// True if the port's keys of other partitions count: for a bound port, the SM service verifies that
// it is in no other partition, and a child uses none of them.
bool needs_all_keys(const node::Record& record) {
  return !record.child && record.spec.partitions.empty();
}

Result<PortView> read_port(const Context& context, const node::Record& record, ib::PKey key,
                           IndexRequirement requirement) {
  PortView view;
  const node::Namespace& where = home_of_rdma(record);
  const std::vector<node::RdmaDevice> devices =
      TRY(context.host.kernel.rdma_devices(where, record.device));
  view.missing = "RDMA device not found";  // probably being renamed
  const node::RdmaDevice* const device = device_of(devices, record);
  if (device == nullptr) return view;
  node::Kernel& kernel = context.host.kernel;
  Result<ib::Port> port = needs_all_keys(record) ? kernel.port(where, device->name)
                                                 : kernel.port_up_to(where, device->name, key);
  if (!port && port.error().code() == Code::not_found) return view;
  view.port = TRY(std::move(port));
  if (requirement == IndexRequirement::index_0) {
    const std::optional<node::Netdev> netdev =
        TRY(node::own_netdev(context.host.kernel, record.netns, record.device));
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

// A remedy that begins with "; ", or "" if there is nothing to do but wait.
std::string missing_hint(const PortView& view, const node::Record& record) {
  const bool managed = !record.spec.partitions.empty();
  if (view.not_in_table)
    return managed ? "; run `ibpodctl explain " + view.port.guid.text() + "`"
                   : "; add the GUID to the partition at the subnet manager";
  if (!view.at_other_index) return "";
  const std::string index0 = managed ? "run `ibpodctl partition update NAME --index0`"
                                     : "have the subnet manager put it at index 0";
  return "; " + index0 + ", or remove ipam from the network";
}

// The port when it meets the requirement, or as it was at the deadline.
Result<PortView> await_view(const Context& context, const node::Record& record, ib::PKey key,
                            IndexRequirement requirement, Deadline deadline) {
  PortView view;
  TRY(node::wait_until(context.host.kernel, deadline, [&]() -> Result<bool> {
    view = TRY(read_port(context, record, key, requirement));
    return view.missing.empty();
  }));
  return view;
}

// `late`: the beginning of an error if the table may still change.
Result<TableEntry> entry_of(const PortView& view, const node::Record& record, ib::PKey key,
                            const std::string& late) {
  if (view.missing.empty()) return view.membership;
  // A key does not move to another index by itself.
  const std::string begin = view.at_other_index ? "P_Key " + key.text() + " cannot be used" : late;
  return Error(Code::unavailable, begin + ": " + view.missing + missing_hint(view, record))
      .with_details(details_of(view));
}

void warn_of_others(const Context& context, const PortView& view, ib::PKey wanted) {
  for (size_t i = 0; i < view.port.pkeys.size(); ++i) {
    const ib::PKey key = view.port.pkeys[i];
    if (key.partition() == 0 || key.same_partition(wanted)) continue;
    context.log.warn("the port is also in another partition: " + key.text() + " at index " +
                     std::to_string(i) + (key == ib::kDefaultFull ? ", open to every port" : ""));
  }
}

// The network's P_Key, or the keys of the partitions that the agent has bound.
Result<std::vector<ib::PKey>> wanted_keys(const Context& context, const node::Record& record,
                                          Deadline deadline) {
  std::vector<ib::PKey> keys;
  if (names_partitions(record.spec)) {
    const BindingResult bound = TRY(await_binding(context, record, deadline));
    keys = bound.keys;
  }
  if (record.spec.pkey) keys = {*record.spec.pkey};
  return keys;
}

}  // namespace

void log_verified(const Context& context, ib::PKey asked, const TableEntry& membership) {
  context.log.inform("partition " + asked.text() + " is verified: " + membership.key.text() + ", " +
                     std::string(ib::name(membership.key.membership())) + " member, at index " +
                     std::to_string(membership.index));
}

const node::Namespace& home_of_rdma(const node::Record& record) {
  return record.spec.isolation ? record.netns : node::kHost;
}

Result<TableEntry> await_partition(const Context& context, const node::Record& record, ib::PKey key,
                                   IndexRequirement requirement, Deadline deadline) {
  const PortView view = TRY(await_view(context, record, key, requirement, deadline));
  if (view.missing.empty() && needs_all_keys(record)) warn_of_others(context, view, key);
  return entry_of(view, record, key, "timed out waiting for P_Key " + key.text());
}

Status check_partition(const Context& context, const node::Record& record, ib::PKey key,
                       IndexRequirement requirement) {
  // A single reading: the partition was verified before.
  const PortView view = TRY(await_view(context, record, key, requirement, Deadline::in(Duration(0)))
                                .reported_as(cni::kCheckFailed));
  TRY(entry_of(view, record, key, "P_Key " + key.text() + " is missing")
          .reported_as(cni::kCheckFailed));
  if (needs_all_keys(record)) warn_of_others(context, view, key);
  return ok();
}

Status check_partitions(const Context& context, const node::Record& record,
                        IndexRequirement requirement) {
  if (record.spec.pkey) TRY(check_partition(context, record, *record.spec.pkey, requirement));
  if (!names_partitions(record.spec)) return ok();
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
  const std::vector<ib::PKey> keys = TRY(wanted_keys(context, record, deadline));
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
