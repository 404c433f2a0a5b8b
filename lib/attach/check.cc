#include "lib/attach/binding.h"
#include "lib/attach/ipam.h"
#include "lib/attach/verbs.h"
#include "lib/cni/errors.h"
#include "lib/cni/result.h"
#include "lib/node/restore.h"
#include "lib/node/vf.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

Result<node::Record> recorded(const Context& context, const AttachmentDriver& driver) {
  const node::RecordName name{driver.folder(context.request.call),
                              context.request.call.container_id, context.request.call.ifname};
  Result<node::Record> record = context.host.records.read(name);
  if (!record && record.error().code() == Code::not_found)
    return differs("there is no record of this attachment: " + name.text());
  if (!record) return differs(record.error().text());
  const std::optional<node::Namespace> now =
      TRY(context.host.kernel.find_namespace(context.request.call.netns));
  if (now != record->netns)
    return differs("CNI_NETNS: " + context.request.call.netns.string() +
                   " is not the namespace of the ADD");
  return record;
}

Status check_routes(const Context& context, const node::Record& record, nl::IfIndex netdev,
                    const std::vector<nl::Route>& wanted) {
  const std::vector<nl::Route> now = TRY(context.host.kernel.routes(record.netns, netdev));
  for (const nl::Route& route : wanted) {
    const bool there = std::any_of(now.begin(), now.end(), [&](const nl::Route& other) {
      return other.destination == route.destination && other.gateway == route.gateway;
    });
    if (there) continue;
    return differs(record.ifname + " does not have the route to " + route.destination.text() +
                   (route.gateway ? " via " + route.gateway->text() : ""));
  }
  return ok();
}

Status check_addressing(const Context& context, const node::Record& record) {
  if (!context.request.network.prev_result) return ok();
  const cni::AddResult previous =
      TRY(cni::parse_result(*context.request.network.prev_result).during("prevResult"));
  const node::Addressing wanted = addressing_of(previous);
  const std::optional<node::Netdev> netdev =
      TRY(context.host.kernel.find_netdev(record.netns, record.ifname));
  if (!netdev) return differs(record.ifname + " is not in the pod");
  const std::vector<nl::LinkAddress> now =
      TRY(context.host.kernel.addresses(record.netns, netdev->index));
  for (const ip::Prefix& prefix : wanted.addresses) {
    const bool there = std::any_of(now.begin(), now.end(), [&](const nl::LinkAddress& address) {
      return address.prefix == prefix;
    });
    if (!there) return differs(record.ifname + " does not have the address " + prefix.text());
  }
  return check_routes(context, record, netdev->index, wanted.routes);
}

Status check_ipam(const Context& context, Deadline deadline) {
  const std::optional<cni::Ipam> ipam = TRY(ipam_of(context, context.request.network));
  if (!ipam) return ok();
  TRY(ipam->check_version(deadline));
  const bool knows = TRY(ipam->speaks(cni::kNewest, deadline));
  return knows ? ipam->status(deadline) : ok();
}

}  // namespace

Error differs(const std::string& text) {
  return Error(Code::internal, text).reported_as(cni::kCheckFailed);
}

Status check(const Context& context, AttachmentDriver& driver, Duration timeout) {
  const Deadline deadline = Deadline::in(timeout);
  const bool has_part = TRY(driver.resolve(context, deadline));
  if (!has_part) return ok();
  const node::Record record = TRY(recorded(context, driver));
  TRY(driver.check(context, record,
                   index_requirement_for(!context.request.network.ipam_type.empty())));
  if (!node::is_vfio(record.original.driver)) TRY(check_addressing(context, record));
  const std::optional<cni::Ipam> ipam = TRY(ipam_of(context, context.request.network));
  return ipam ? ipam->check(deadline) : ok();
}

Status status(const Context& opened, const AttachmentDriver& driver, Duration timeout) {
  const Deadline deadline = Deadline::in(timeout);
  const Result<bool> sm_managed = opened.host.agent.ask(deadline);
  const Context context = with_agent(opened, sm_managed && *sm_managed);
  if (context.host.sm_managed) TRY(to_partition_request(driver.spec()));
  // A fault of the node is reported before one of its agent.
  Status node = driver.check_node(context);
  if (node && !sm_managed) node = sm_managed.error();
  TRY(context.host.records.check_writable().during("stateDir: no attachment can be recorded"));
  if (!node) return node;
  return check_ipam(context, Deadline::in(timeout)).during("IPAM");
}

}  // namespace ibpod::attach
