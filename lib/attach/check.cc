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
  // The kernel lowers it to that of the broadcast group, once the interface has joined.
  if (record.wanted.mtu && netdev->mtu > *record.wanted.mtu) {
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

Status check_routes(const Context& context, const node::Record& record, nl::IfIndex netdev,
                    const std::vector<nl::Route>& wanted) {
  const std::vector<nl::Route> now = TRY(context.kernel.routes(record.netns, netdev));
  for (const nl::Route& route : wanted) {
    const bool there = std::any_of(now.begin(), now.end(), [&](const nl::Route& other) {
      return other.destination == route.destination && other.gateway == route.gateway;
    });
    if (there) continue;
    return differs(record.ifname + " does not have the route to " + route.destination.text() +
                   (route.gateway ? " by " + route.gateway->text() : ""));
  }
  return ok();
}

Status check_addressing(const Context& context, const node::Record& record) {
  if (!context.network.prev_result) return ok();
  const cni::AddResult previous =
      TRY(cni::parse_result(*context.network.prev_result).during("prevResult"));
  const node::Addressing wanted = addressing_of(previous);
  const std::optional<node::Netdev> netdev =
      TRY(context.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return differs(record.ifname + " is not in the pod");
  const std::vector<nl::LinkAddress> now =
      TRY(context.kernel.addresses(record.netns, netdev->index));
  for (const ip::Prefix& prefix : wanted.addresses) {
    const bool there = std::any_of(now.begin(), now.end(), [&](const nl::LinkAddress& address) {
      return address.prefix == prefix;
    });
    if (!there) return differs(record.ifname + " does not have the address " + prefix.text());
  }
  return check_routes(context, record, netdev->index, wanted.routes);
}

// A virtual machine has the port: what is left to see is the driver, and what the PF was told.
Status check_vfio(const Context& context, const node::Record& record) {
  const std::optional<node::Function> function = TRY(context.kernel.function(record.device));
  if (!function) return differs(record.device.text() + " is not on this node any more");
  if (function->driver != record.found.driver) {
    return differs(record.device.text() + " is bound to " + function->driver.value_or("no driver") +
                   " instead of " + record.found.driver);
  }
  if (!record.wanted.guids) return ok();
  const Result<nl::VfSettings> told = context.kernel.vf_settings(*function);
  if (!told && told.error().code() == Code::unsupported) return ok();
  if (!told) return told.error();
  if (node::Guids{told->node_guid, told->port_guid} == *record.wanted.guids) return ok();
  return differs("the PF has been told the port GUID " + told->port_guid.text() + " for " +
                 record.device.text() + " instead of " + record.wanted.guids->port.text());
}

Status check_port(const Context& context, const node::Record& record) {
  TRY(check_netdev(context, record));
  TRY(check_rdma(context, record));
  TRY(check_addressing(context, record));
  if (!record.wanted.pkey) return ok();
  // No waiting: it was verified once, and has to be there now.
  const Place place = place_for(!context.network.ipam_type.empty());
  TRY(await_partition(context, record, place, Deadline::in(Duration(0)))
          .reported_as(cni::kCheckFailed));
  return ok();
}

}  // namespace

Status check(const Context& context, const Order& order) {
  const Deadline deadline = Deadline::in(order.timeout);
  const node::Record record = TRY(recorded(context, order));
  const bool vfio = node::is_vfio(record.found.driver);
  TRY(vfio ? check_vfio(context, record) : check_port(context, record));
  const std::optional<cni::Ipam> ipam = TRY(ipam_of(context.network, context.call));
  return ipam ? ipam->check(deadline) : ok();
}

}  // namespace ibpod::attach
