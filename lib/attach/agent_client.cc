#include "lib/attach/agent_client.h"

#include "lib/attach/context.h"
#include "lib/cni/errors.h"

#include <cerrno>

namespace ibpod::attach {
namespace {

// Longer than a restart or an upgrade of the agent takes; after it the caller tries again.
constexpr Duration kUntilBack{15'000};

Error refused(const AgentRequiredFile& required_file, const std::string& why) {
  return Error(Code::unavailable,
               "this node attaches pods only while its agent runs (required by " +
                   required_file.file().string() + "), but " + why +
                   ": start ibpod-agent, or set \"standalone\": \"allow\" in its configuration; if "
                   "the node has no agent, remove the file")
      .reported_as(cni::kTryAgainLater);
}

Result<bool> ask_at(const Connect& agent, const Path& socket, Deadline deadline) {
  const v1::HealthResponse health = TRY(agent(socket)->health(deadline.at_most(kAgentTimeout)));
  return health.binds();
}

// If a network names an agent, it is not attached without that agent.
Result<bool> ask_named(const Connect& agent, const Path& socket, Deadline deadline) {
  const Result<bool> sm_managed = ask_at(agent, socket, deadline);
  if (sm_managed) return sm_managed;
  return Error(Code::unavailable,
               "agentSocket: the node's agent does not answer at " + socket.string() + " (" +
                   sm_managed.error().text() +
                   "): start ibpod-agent, or remove the key if the node has no agent")
      .reported_as(cni::kTryAgainLater);
}

// The author of a network must not choose the agent that decides for its pods.
Status check_own(const AgentRequiredFile& required_file, const Path& socket,
                 const Settings& settings) {
  if (!required_file.is_in(settings.state_folder))
    return Error(Code::invalid, "stateDir: " + settings.state_folder.string() +
                                    ": this node's agent keeps its records in " +
                                    required_file.folder().string() + ": remove the key");
  if (!settings.agent_socket.empty() && settings.agent_socket != socket)
    return Error(Code::invalid, "agentSocket: " + settings.agent_socket.string() +
                                    ": this node's agent answers at " + socket.string() +
                                    ": remove the key");
  return ok();
}

Error refusal(const cni::Call& call, const std::string& key, const ib::PciAddress& device,
              const std::string& advice) {
  return Error(Code::denied, key + ": " + device.text() +
                                 ": the kubelet has not allocated it to the pod " +
                                 call.pod.name_space + "/" + call.pod.name + "; " + advice +
                                 " in " + std::string(kNodeConfigFile));
}

// True if no process listens at the socket. A late or indefinite answer is not counted: a pod could
// cause it.
bool is_absent(const Error& error) {
  return error.code() == Code::unavailable &&
         (error.error_number() == ENOENT || error.error_number() == ECONNREFUSED);
}

}  // namespace

// A file that cannot be read requires the agent, too.
bool AgentClient::is_required() const {
  const Result<std::optional<Path>> socket = required_file_.read();
  return !socket || *socket || !settings_.agent_socket.empty();
}

std::unique_ptr<nodeapi::Node> AgentClient::connect() const {
  const Result<std::optional<Path>> marked = required_file_.read();
  if (marked && *marked) return connect_(**marked);
  const Path& given = settings_.agent_socket;
  return connect_(given.empty() ? Path(kAgentSocket) : given);
}

Result<bool> AgentClient::ask(Deadline deadline) const {
  const Result<std::optional<Path>> socket = required_file_.read();
  if (!socket) return refused(required_file_, "its socket is not known: " + socket.error().text());
  const Path& named = settings_.agent_socket;
  if (!*socket) return named.empty() ? false : ask_named(connect_, named, deadline);
  TRY(check_own(required_file_, **socket, settings_));
  const Result<bool> sm_managed = ask_at(connect_, **socket, deadline);
  if (sm_managed) return sm_managed;
  return refused(required_file_, "the agent does not answer at " + (*socket)->string() + " (" +
                                     sm_managed.error().text() + ")");
}

Result<bool> await_agent(const Context& context, Deadline deadline) {
  const AgentClient& agent = context.host.agent;
  if (!agent.is_required()) return false;
  return timed(context, "ask the node's agent for its health", [&]() -> Result<bool> {
    Result<bool> sm_managed = false;
    TRY(node::wait_until(context.host.kernel, deadline.at_most(kUntilBack), [&]() -> Result<bool> {
      sm_managed = agent.ask(deadline);
      return sm_managed || sm_managed.error().code() != Code::unavailable;
    }));
    return sm_managed;
  });
}

Status check_allocated(const Context& context, const std::string& key, const ib::PciAddress& device,
                       const std::string& advice, Deadline deadline) {
  if (context.request.settings.any_device) return ok();
  const cni::Call& call = context.request.call;
  const nodeapi::DeviceQuestion question{call.pod.name_space, call.pod.name, "",
                                         call.container_id,   call.ifname,   device.text()};
  const Result<std::string> answer =
      timed(context, "ask the agent whether the kubelet gave the pod its device",
            [&] { return context.host.agent.connect()->device_of(question, deadline); });
  if (answer && *answer == device.text()) return ok();
  if (answer)
    return Error(
        Code::unavailable,
        key + ": the node's agent is older than this plugin and does not report which pod has " +
            device.text() + ": upgrade the agent");
  if (answer.error().code() == Code::denied) return refusal(call, key, device, advice);
  const bool no_kubelet = answer.error().code() == Code::unsupported;
  if (no_kubelet || (is_absent(answer.error()) && !context.host.agent.is_required())) return ok();
  return answer.error();
}

}  // namespace ibpod::attach
