#include "lib/attach/requirements.h"

#include "lib/attach/addresses.h"
#include "lib/cni/errors.h"
#include "lib/node/vf.h"

namespace ibpod::attach {
namespace {

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

Status check_name_is_free(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Netdev> taken =
      TRY(context.kernel.find_netdev(pod, context.call.ifname));
  if (!taken) return ok();
  return Error(Code::exists, "CNI_IFNAME: the pod already has an interface " + context.call.ifname);
}

}  // namespace

Status check_isolation(const Context& context) {
  const nl::RdmaNetnsMode mode = TRY(context.kernel.rdma_netns_mode());
  if (mode == nl::RdmaNetnsMode::exclusive) return ok();
  return Error(Code::unsupported,
               "rdmaIsolation: this node's RDMA subsystem is in shared mode, where every pod sees "
               "every RDMA device. "
               "Put \"options ib_core netns_mode=0\" into /etc/modprobe.d and reboot, or set "
               "rdmaIsolation to false");
}

Result<bool> is_own_namespace(const Context& context, const node::Namespace& where) {
  const std::optional<node::Namespace> own =
      TRY(context.kernel.find_namespace("/proc/self/ns/net"));
  return own && own->identity == where.identity;
}

Status check_still_there(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Namespace> now = TRY(context.kernel.find_namespace(pod.path));
  if (now == pod) return ok();
  return Error(Code::not_found, "CNI_NETNS: the network namespace " + pod.path.string() +
                                    " has ended while the attachment was being made")
      .reported_as(cni::kUnknownContainer);
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

}  // namespace ibpod::attach
