#include "cni/ib-sriov/ib_sriov.h"

#include "lib/attach/allocated.h"

namespace ibpod::ib_sriov {
namespace {

// A VF's own interface is what a pod gets, and a PF's is the way to a VF's GUIDs.
Status check_ipoib(const attach::Context& context) {
  const std::vector<node::Netdev> netdevs = TRY(context.kernel.ipoib_netdevs(node::kHost));
  if (!netdevs.empty()) return ok();
  return Error(
      Code::unavailable,
      "the host has no IPoIB interface of a VF or PF: load ib_ipoib and the adapter's driver");
}

}  // namespace

void IbSriov::read_lenient(const cni::Call& call, const json::Value& document) {
  config_ = parse_lenient(call, document, node());
}

Status IbSriov::read(const cni::Call& call, const cni::Network& network) {
  config_ = TRY(parse_config(call, network, node()));
  return ok();
}

std::string IbSriov::subject() const {
  return config_.vf.device.empty() ? "" : config_.vf.device.text();
}

Status IbSriov::check_node(const attach::Context& context) {
  if (config_.vf.spec.isolation) TRY(attach::check_isolation(context));
  return config_.vf.vfio ? ok() : check_ipoib(context);
}

Result<std::string> IbSriov::ask_agent(const attach::Context& context, Deadline deadline) const {
  const cni::Call& call = context.call;
  const nodeapi::DeviceQuestion question{call.pod.name_space, call.pod.name, config_.resource,
                                         call.container_id, call.ifname};
  return attach::timed(context, "ask the agent for the pod's device",
                       [&] { return agent()->device_of(question, deadline); });
}

// The device of a pod whose runtime does not name it: by the agent, and afterwards by its record.
// One that the network names has to be the pod's.
Result<bool> IbSriov::complete(const attach::Context& context, Deadline deadline) {
  if (!config_.vf.device.empty()) {
    if (context.call.verb == cni::Verb::add)
      TRY(attach::check_allocated(context, "deviceID", config_.vf.device,
                                  std::string(attach::kDeviceAdvice), deadline));
    return true;
  }
  std::string device;
  if (context.call.verb == cni::Verb::add) {
    device = TRY(ask_agent(context, deadline));
  } else {
    const std::vector<node::RecordName> names =
        TRY(context.records.of_attachment(context.call.container_id, context.call.ifname));
    if (!names.empty()) device = names.front().folder;
  }
  if (device.empty()) return false;
  config_.vf.device = TRY(ib::PciAddress::parse(device).during("the agent's answer"));
  name_subject();
  return true;
}

// The author of a pod writes its annotations, and could put it into another pod's partitions with
// that pod's GUID. So the SM service has to grant a GUID, and it does that only where it binds.
Status IbSriov::check_choice() const {
  const node::Spec& spec = config_.vf.spec;
  const bool bound = spec.pkey || !spec.partitions.empty();
  if (spec.guids && bound) return ok();
  if (spec.guids)
    return Error(Code::invalid, config_.guid_key + ": " + spec.guids->port.text() +
                                    ": the SM service assigns the GUIDs of this node's VFs, and a "
                                    "network can request one only together with partition or pkey");
  if (config_.ib_kubernetes_configured)
    return Error(Code::invalid,
                 "args.cni[\"mellanox.infiniband.app\"]: \"configured\" is not supported on this "
                 "node: its agent binds the pod at the SM service, without ib-kubernetes");
  return ok();
}

// ib-kubernetes sets a pod's GUID up at the subnet manager and says so in the pod's annotation. An
// agent that binds does all that itself.
Status IbSriov::check_ready(const attach::Context& context, bool sm_managed) const {
  if (sm_managed) return check_choice();
  if (!config_.ib_kubernetes) return ok();
  if (!config_.ib_kubernetes_configured) {
    return Error(Code::unavailable,
                 "ibKubernetesEnabled: ib-kubernetes has not configured this pod yet: "
                 "args.cni has no \"mellanox.infiniband.app\": \"configured\"");
  }
  const std::optional<node::Function> function = TRY(context.kernel.function(config_.vf.device));
  if (!function || !function->pf || config_.vf.spec.guids) return ok();
  return Error(Code::unavailable,
               "ibKubernetesEnabled: ib-kubernetes has given this pod no GUID: args.cni.guid and "
               "runtimeConfig.infinibandGUID are empty");
}

}  // namespace ibpod::ib_sriov
