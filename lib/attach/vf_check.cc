#include "lib/attach/binding.h"
#include "lib/attach/check.h"
#include "lib/attach/interface.h"
#include "lib/attach/vf_driver.h"
#include "lib/cni/errors.h"
#include "lib/node/vf.h"

namespace ibpod::attach {
namespace {

Status check_netdev(const Context& context, const node::Record& record) {
  const std::optional<node::Netdev> netdev =
      TRY(node::own_netdev(context.kernel, record.netns, record.device));
  if (!netdev) return differs("the interface of " + record.device.text() + " is not in the pod");
  return check_interface(record, *netdev);
}

Status check_rdma(const Context& context, const node::Record& record) {
  const node::Namespace& where = home_of_rdma(record);
  const std::vector<node::RdmaDevice> devices =
      TRY(context.kernel.rdma_devices(where, record.device));
  if (devices.size() != record.original.rdma_devices.size()) {
    return differs(std::to_string(devices.size()) + " of " +
                   std::to_string(record.original.rdma_devices.size()) + " RDMA devices are " +
                   (where.is_host() ? "in the host's namespace" : "in the pod"));
  }
  const node::Guids wanted =
      record.spec.guids.value_or(record.original.guids.value_or(node::Guids{}));
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

// A virtual machine has the port: what is left to see is the driver, and what the PF was told.
Status check_vfio(const Context& context, const node::Record& record) {
  const std::optional<node::Function> function = TRY(context.kernel.function(record.device));
  if (!function) return differs(record.device.text() + " is no longer on this node");
  if (function->driver != record.original.driver) {
    return differs(record.device.text() + " is bound to " + function->driver.value_or("no driver") +
                   " instead of " + record.original.driver);
  }
  TRY(bound_keys(context, record));
  if (!record.spec.guids) return ok();
  const Result<nl::VfSettings> told = context.kernel.vf_settings(*function);
  if (!told && told.error().code() == Code::unsupported) return ok();
  if (!told) return told.error();
  if (node::Guids{told->node_guid, told->port_guid} == *record.spec.guids) return ok();
  return differs("the PF is set to the port GUID " + told->port_guid.text() + " for " +
                 record.device.text() + " instead of " + record.spec.guids->port.text());
}

}  // namespace

Status check_vf(const Context& context, const node::Record& record, IndexRequirement requirement) {
  if (node::is_vfio(record.original.driver)) return check_vfio(context, record);
  TRY(check_netdev(context, record));
  TRY(check_rdma(context, record));
  return check_partitions(context, record, requirement);
}

}  // namespace ibpod::attach
