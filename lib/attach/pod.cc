#include "lib/attach/pod.h"

#include "lib/attach/attachment_driver.h"
#include "lib/cni/errors.h"
#include "lib/node/vf.h"

namespace ibpod::attach {

Result<node::Namespace> pod_namespace(const Context& context) {
  const std::optional<node::Namespace> pod =
      TRY(context.host.kernel.find_namespace(context.request.call.netns)
              .during("CNI_NETNS")
              .reported_as(cni::kInvalidEnvironment));
  if (!pod) {
    return Error(Code::not_found, "CNI_NETNS: there is no network namespace at " +
                                      context.request.call.netns.string())
        .reported_as(cni::kUnknownContainer);
  }
  const bool own = TRY(is_own_namespace(context, *pod));
  if (own) {
    return Error(Code::invalid, "CNI_NETNS: " + context.request.call.netns.string() +
                                    " is the host's own network namespace: a pod with hostNetwork "
                                    "needs no attachment")
        .reported_as(cni::kInvalidEnvironment);
  }
  return *pod;
}

Result<bool> is_own_namespace(const Context& context, const node::Namespace& where) {
  const std::optional<node::Namespace> own =
      TRY(context.host.kernel.find_namespace("/proc/self/ns/net"));
  return own && own->identity == where.identity;
}

Status check_name_is_free(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Netdev> taken =
      TRY(context.host.kernel.find_netdev(pod, context.request.call.ifname));
  if (!taken) return ok();
  return Error(Code::exists,
               "CNI_IFNAME: the pod already has an interface " + context.request.call.ifname);
}

Status check_still_there(const Context& context, const node::Namespace& pod) {
  const std::optional<node::Namespace> now = TRY(context.host.kernel.find_namespace(pod.path));
  if (now == pod) return ok();
  return Error(Code::not_found, "CNI_NETNS: the network namespace " + pod.path.string() +
                                    " has ended while the attachment was being made")
      .reported_as(cni::kUnknownContainer);
}

Status check_still_ours(const Context& context, const node::Record& record) {
  const Result<node::Record> now = context.host.records.read(name_of(record));
  if (now && *now == record) return check_still_there(context, record.netns);
  return Error(Code::unavailable, "the attachment was deleted while it was being made");
}

Result<node::Netdev> pod_netdev(const Context& context, const node::Record& record) {
  const std::optional<node::Netdev> netdev =
      TRY(context.host.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return Error(Code::unavailable, record.ifname + " has disappeared from the pod");
  return *netdev;
}

Result<std::optional<node::Netdev>> await_carrier(const Context& context,
                                                  const node::Record& record, Deadline deadline) {
  std::optional<node::Netdev> netdev;
  const bool carrier = TRY(node::wait_until(context.host.kernel, deadline, [&]() -> Result<bool> {
    netdev = TRY(context.host.kernel.find_netdev(record.netns, record.ifname));
    return netdev && netdev->carrier;
  }));
  return carrier ? netdev : std::nullopt;
}

Status renew_pkey(const Context& context, const node::Record& record) {
  const node::Netdev netdev = TRY(pod_netdev(context, record));
  TRY(context.host.kernel.change_netdev(record.netns, netdev.index, {.up = false}));
  return context.host.kernel.change_netdev(record.netns, netdev.index, {.up = true});
}

Status check_interface(const node::Record& record, const node::Netdev& now) {
  if (now.name != record.ifname)
    return differs("the interface is called " + now.name + " instead of " + record.ifname);
  if (!now.up) return differs(record.ifname + " is down");
  // The kernel lowers the MTU to that of the broadcast group once the interface has joined.
  if (!record.spec.mtu || now.mtu <= *record.spec.mtu) return ok();
  return differs(record.ifname + " has MTU " + std::to_string(now.mtu) + " instead of " +
                 std::to_string(*record.spec.mtu));
}

}  // namespace ibpod::attach
