#include "lib/attach/check.h"

#include "lib/attach/addresses.h"
#include "lib/attach/partition.h"
#include "lib/cni/errors.h"
#include "lib/cni/result.h"
#include "lib/node/restore.h"
#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

Error differs(const std::string& text) {
  return Error(Code::internal, text).reported_as(cni::kCheckFailed);
}

Result<node::Record> recorded(const Context& context, const Order& order) {
  const node::RecordName name{order.device, context.call.container_id, context.call.ifname};
  Result<node::Record> record = context.records.read(name);
  if (!record && record.error().code() == Code::not_found)
    return differs("there is no record of this attachment: " + name.text());
  if (!record) return differs(record.error().text());
  const std::optional<node::Namespace> now = TRY(context.kernel.find_namespace(context.call.netns));
  if (now != record->netns)
    return differs("CNI_NETNS: " + context.call.netns.string() +
                   " is not the namespace of the ADD");
  return record;
}

Status check_netdev(const Context& context, const node::Record& record) {
  const std::optional<node::Netdev> netdev =
      TRY(node::own_netdev(context.kernel, record.netns, record.device));
  if (!netdev) return differs("the interface of " + record.device.text() + " is not in the pod");
  if (netdev->name != record.ifname)
    return differs("the interface is called " + netdev->name + " instead of " + record.ifname);
  if (!netdev->up) return differs(record.ifname + " is down");
  if (record.wanted.mtu && netdev->mtu != *record.wanted.mtu) {
    return differs(record.ifname + " has MTU " + std::to_string(netdev->mtu) + " instead of " +
                   std::to_string(*record.wanted.mtu));
  }
  return ok();
}

Status check_rdma(const Context& context, const node::Record& record) {
  const node::Namespace& where = home_of_rdma(record);
  const std::vector<node::RdmaDevice> devices =
      TRY(context.kernel.rdma_devices(where, record.device));
  if (devices.size() != record.found.rdma_devices.size()) {
    return differs("of " + std::to_string(record.found.rdma_devices.size()) + " RDMA devices " +
                   std::to_string(devices.size()) + " are " +
                   (where.is_host() ? "in the host's namespace" : "in the pod"));
  }
  const node::Guids wanted =
      record.wanted.guids.value_or(record.found.guids.value_or(node::Guids{}));
  for (const node::RdmaDevice& device : devices) {
    if (device.port_guid != wanted.port)
      return differs(device.name + " has the port GUID " + device.port_guid.text() +
                     " instead of " + wanted.port.text());
    if (device.node_guid != wanted.node)
      return differs(device.name + " has the node GUID " + device.node_guid.text() +
                     " instead of " + wanted.node.text());
  }
  return ok();
}

Status check_addresses(const Context& context, const node::Record& record) {
  if (!context.network.prev_result) return ok();
  const cni::AddResult previous =
      TRY(cni::parse_result(*context.network.prev_result).during("prevResult"));
  const std::optional<node::Netdev> netdev =
      TRY(context.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return differs(record.ifname + " is not in the pod");
  const std::vector<nl::LinkAddress> now =
      TRY(context.kernel.addresses(record.netns, netdev->index));
  for (const cni::IpConfig& ip : previous.ips) {
    const bool there = std::any_of(now.begin(), now.end(), [&](const nl::LinkAddress& address) {
      return address.prefix == ip.address;
    });
    if (!there) return differs(record.ifname + " does not have the address " + ip.address.text());
  }
  return ok();
}

}  // namespace

Status check(const Context& context, const Order& order) {
  const Deadline deadline = Deadline::in(order.timeout);
  const node::Record record = TRY(recorded(context, order));
  if (!node::is_vfio(record.found.driver)) {
    TRY(check_netdev(context, record));
    TRY(check_rdma(context, record));
    TRY(check_addresses(context, record));
    // No waiting: it was verified once, and has to be there now.
    if (record.wanted.pkey) {
      const Place place = place_for(!context.network.ipam_type.empty());
      TRY(await_partition(context, record, place, Deadline::in(Duration(0)))
              .reported_as(cni::kCheckFailed));
    }
  }
  const std::optional<cni::Ipam> ipam = TRY(ipam_of(context.network, context.call));
  return ipam ? ipam->check(deadline) : ok();
}

}  // namespace ibpod::attach
