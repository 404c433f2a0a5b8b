#include "lib/attach/interface.h"

#include "lib/attach/check.h"
#include "lib/node/vf.h"

namespace ibpod::attach {

Result<node::Netdev> pod_netdev(const Context& context, const node::Record& record) {
  const std::optional<node::Netdev> netdev =
      TRY(context.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return Error(Code::unavailable, record.ifname + " has disappeared from the pod");
  return *netdev;
}

Result<std::optional<node::Netdev>> await_carrier(const Context& context,
                                                  const node::Record& record, Deadline deadline) {
  std::optional<node::Netdev> netdev;
  const bool carrier = TRY(node::wait_until(context.kernel, deadline, [&]() -> Result<bool> {
    netdev = TRY(context.kernel.find_netdev(record.netns, record.ifname));
    return netdev && netdev->carrier;
  }));
  return carrier ? netdev : std::nullopt;
}

Status renew_pkey(const Context& context, const node::Record& record) {
  const node::Netdev netdev = TRY(pod_netdev(context, record));
  TRY(context.kernel.change_netdev(record.netns, netdev.index, {.up = false}));
  return context.kernel.change_netdev(record.netns, netdev.index, {.up = true});
}

Status check_interface(const node::Record& record, const node::Netdev& now) {
  if (now.name != record.ifname)
    return differs("the interface is called " + now.name + " instead of " + record.ifname);
  if (!now.up) return differs(record.ifname + " is down");
  // The kernel lowers it to that of the broadcast group, once the interface has joined.
  if (!record.spec.mtu || now.mtu <= *record.spec.mtu) return ok();
  return differs(record.ifname + " has MTU " + std::to_string(now.mtu) + " instead of " +
                 std::to_string(*record.spec.mtu));
}

}  // namespace ibpod::attach
