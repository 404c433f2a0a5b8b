#include "lib/attach/allocated.h"

#include "lib/attach/node_config.h"

#include <cerrno>

namespace ibpod::attach {
namespace {

Error refusal(const cni::Call& call, const std::string& key, const ib::PciAddress& device,
              const std::string& advice) {
  return Error(Code::denied, key + ": " + device.text() +
                                 ": the kubelet has not allocated it to the pod " +
                                 call.pod.name_space + "/" + call.pod.name + "; " + advice +
                                 " in " + std::string(kNodeConfigFile));
}

// No process listens there. One that answers late, or does not know yet, is no such case: a pod
// could bring that about.
bool is_absent(const Error& error) {
  return error.code() == Code::unavailable &&
         (error.error_number() == ENOENT || error.error_number() == ECONNREFUSED);
}

}  // namespace

Status check_allocated(const Context& context, const std::string& key, const ib::PciAddress& device,
                       const std::string& advice, Deadline deadline) {
  if (context.any_device) return ok();
  const cni::Call& call = context.call;
  const nodeapi::DeviceQuestion question{call.pod.name_space, call.pod.name, "",
                                         call.container_id,   call.ifname,   device.text()};
  const Result<std::string> answer =
      timed(context, "ask the agent whether the kubelet gave the pod its device",
            [&] { return context.agent()->device_of(question, deadline); });
  if (answer && *answer == device.text()) return ok();
  if (answer)
    return Error(
        Code::unavailable,
        key + ": the node's agent is older than this plugin and does not report which pod has " +
            device.text() + ": upgrade the agent");
  if (answer.error().code() == Code::denied) return refusal(call, key, device, advice);
  const bool no_kubelet = answer.error().code() == Code::unsupported;
  if (no_kubelet || (is_absent(answer.error()) && !context.needs_agent)) return ok();
  return answer.error();
}

}  // namespace ibpod::attach
