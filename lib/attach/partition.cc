#include "lib/attach/partition.h"

#include "lib/attach/binding.h"
#include "lib/cni/errors.h"
#include "lib/json/value.h"
#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

// What one look at the port has shown.
struct Look {
  ib::Port port;
  std::optional<ib::PKey> netdev;  // the IPoIB interface's own key
  std::string missing;             // why it is not yet right; empty: it is
  bool at_other_index = false;     // ... that is all: the port is in the partition
  Membership membership;
};

std::string judge(const ib::Port& port, ib::PKey wanted, Place place, Look& look) {
  if (port.state != ib::PortState::active)
    return "the port is " + std::string(ib::name(port.state)) + ", not ACTIVE";
  const std::optional<size_t> index = ib::find_in(port.pkeys, wanted);
  if (!index) {
    return "the port's P_Key table does not hold " + wanted.text() +
           (wanted.membership() == ib::Membership::full ? " as full member" : "");
  }
  look.membership = {*index, port.pkeys[*index]};
  if (place == Place::anywhere) return "";
  if (!port.pkeys[0].same_partition(wanted)) {
    look.at_other_index = true;
    return wanted.text() + " is at index " + std::to_string(*index) +
           " of the P_Key table, and IPoIB uses index 0 only";
  }
  // Index 0 tells IPoIB the partition; of two keys of that it takes the full one (ib_find_pkey).
  if (wanted.membership() != ib::Membership::full) look.membership = {0, port.pkeys[0]};
  if (!look.netdev || !look.netdev->same_partition(wanted)) {
    return "the IPoIB interface still has the key " +
           (look.netdev ? look.netdev->text() : std::string("of no partition"));
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

Result<Look> look_at(const Context& context, const node::Record& record, ib::PKey key,
                     Place place) {
  Look look;
  const node::Namespace& where = home_of_rdma(record);
  const std::vector<node::RdmaDevice> devices =
      TRY(context.kernel.rdma_devices(where, record.device));
  look.missing = "its RDMA device is not to be seen";  // being renamed, most likely
  const node::RdmaDevice* const device = device_of(devices, record);
  if (device == nullptr) return look;
  Result<ib::Port> port = context.kernel.port(where, device->name);
  if (!port && port.error().code() == Code::not_found) return look;
  look.port = TRY(std::move(port));
  if (place == Place::index_0) {
    const std::optional<node::Netdev> netdev =
        TRY(node::own_netdev(context.kernel, record.netns, record.device));
    if (netdev && netdev->ipoib) look.netdev = netdev->ipoib->pkey;
  }
  look.missing = judge(look.port, key, place, look);
  return look;
}

std::string details_of(const Look& look) {
  return "port state " + std::string(ib::name(look.port.state)) + ", LID " +
         std::to_string(look.port.lid) + ", port GUID " + look.port.guid.text() +
         ", P_Key table: " + ib::text(look.port.pkeys);
}

// What does not change by itself is not said to be late.
std::string remedy(const Look& look, const node::Record& record) {
  if (!look.at_other_index)
    return "the subnet manager has not put the GUID " + look.port.guid.text() + " into it (yet)";
  const std::string without = ", or take ipam out of the network";
  if (record.wanted.partitions.empty())
    return "have the subnet manager put it at index 0" + without;
  return "run `ibpodctl partition update NAME --index0`" + without;
}

void warn_of_others(const Context& context, const Look& look, ib::PKey wanted) {
  for (size_t i = 0; i < look.port.pkeys.size(); ++i) {
    const ib::PKey key = look.port.pkeys[i];
    if (key.partition() == 0 || key.same_partition(wanted)) continue;
    context.warn("the port is in another partition too: " + key.text() + " at index " +
                 std::to_string(i) + (key == ib::kDefaultFull ? ", open to every port" : ""));
  }
}

}  // namespace

void tell_verified(const Context& context, ib::PKey asked, const Membership& membership) {
  context.inform("partition " + asked.text() + " is verified: " + membership.key.text() + ", " +
                 std::string(ib::name(membership.key.membership())) + " member, at index " +
                 std::to_string(membership.index));
}

const node::Namespace& home_of_rdma(const node::Record& record) {
  return record.wanted.isolation ? record.netns : node::kHost;
}

Result<Membership> await_partition(const Context& context, const node::Record& record, ib::PKey key,
                                   Place place, Deadline deadline) {
  Look look;
  const bool there = TRY(node::wait_until(context.kernel, deadline, [&]() -> Result<bool> {
    look = TRY(look_at(context, record, key, place));
    return look.missing.empty();
  }));
  if (!there) {
    const std::string state = look.at_other_index ? " cannot be used here: " : " is not there: ";
    return Error(Code::unavailable,
                 "partition " + key.text() + state + look.missing + "; " + remedy(look, record))
        .with_details(details_of(look));
  }
  // What an SM service has bound is in no other one: it has looked.
  if (!record.child && record.wanted.partitions.empty()) warn_of_others(context, look, key);
  return look.membership;
}

Status check_partition(const Context& context, const node::Record& record, ib::PKey key,
                       Place place) {
  // No waiting: it was verified once.
  TRY(await_partition(context, record, key, place, Deadline::in(Duration(0)))
          .reported_as(cni::kCheckFailed));
  return ok();
}

Status check_partitions(const Context& context, const node::Record& record, Place place) {
  if (record.wanted.pkey) TRY(check_partition(context, record, *record.wanted.pkey, place));
  const std::vector<ib::PKey> keys = TRY(bound_keys(context, record));
  for (size_t n = 0; n < keys.size(); ++n)
    TRY(check_partition(context, record, keys[n], n == 0 ? place : Place::anywhere));
  return ok();
}

Result<std::optional<Membership>> join_partitions(const Context& context,
                                                  const node::Record& record, Place place,
                                                  Deadline deadline) {
  const Bound bound = TRY(await_binding(context, record, deadline));
  const std::vector<ib::PKey> keys =
      record.wanted.pkey ? std::vector{*record.wanted.pkey} : bound.keys;
  std::optional<Membership> first;
  for (const ib::PKey key : keys) {
    const Place where = first ? Place::anywhere : place;
    const Membership membership = TRY(await_partition(context, record, key, where, deadline));
    tell_verified(context, key, membership);
    if (!first) first = membership;
  }
  return first;
}

}  // namespace ibpod::attach
