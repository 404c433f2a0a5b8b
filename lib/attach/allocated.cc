#include "lib/attach/allocated.h"

#include "lib/attach/node_config.h"

namespace ibpod::attach {
namespace {

Error refusal(const std::string& key, const ib::PciAddress& device, const Error& denied) {
  const std::string remedy = "; request the device's resource in the pod's spec and leave " + key +
                             " to Multus, or set \"devices\": \"any\" in " +
                             std::string(kNodeConfigFile);
  return Error(Code::denied, key + ": " + device.text() + ": " + denied.text() + remedy);
}

}  // namespace

Status check_allocated(const Context& context, const std::string& key, const ib::PciAddress& device,
                       Deadline deadline) {
  if (context.any_device) return ok();
  const cni::Call& call = context.call;
  const nodeapi::DeviceQuestion question{call.pod.name_space, call.pod.name, "",
                                         call.container_id,   call.ifname,   device.text()};
  const Result<std::string> answer =
      timed(context, "ask the agent whether the kubelet gave the pod its device",
            [&] { return context.agent()->device_of(question, deadline); });
  if (answer && *answer == device.text()) return ok();
  if (answer) return refusal(key, device, Error(Code::denied, "the agent does not know of it"));
  if (answer.error().code() == Code::denied) return refusal(key, device, answer.error());
  const bool no_kubelet = answer.error().code() == Code::unsupported;
  if (no_kubelet || !context.needs_agent) return ok();
  return answer.error();
}

}  // namespace ibpod::attach
