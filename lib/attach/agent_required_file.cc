#include "lib/attach/agent_required_file.h"

#include "lib/cni/errors.h"
#include "lib/json/version.h"

namespace ibpod::attach {
namespace {

constexpr int64_t kNewest = 1;
constexpr const char* kSocket = "agentSocket";
constexpr const char* kWithoutPartition = "withoutPartition";
constexpr const char* kRefuse = "refuse";

template <typename T>
bool is_newer(const Result<T>& mark) {
  return !mark && mark.error().code() == Code::unsupported;
}

Error refused(const AgentRequiredFile& required_file, const std::string& why) {
  return Error(Code::unavailable,
               "this node attaches pods only while its agent runs (required by " +
                   required_file.file().string() + "), but " + why +
                   ": start ibpod-agent, or set \"standalone\": \"allow\" in its configuration; if "
                   "the node has no agent, remove the file")
      .reported_as(cni::kTryAgainLater);
}

Result<bool> ask(const Connect& agent, const Path& socket, Deadline deadline) {
  const nodeapi::Health health = TRY(agent(socket)->health(deadline.at_most(kAgentTimeout)));
  return health.sm_managed;
}

// A network that names an agent must not be attached without it.
Result<bool> ask_named(const Connect& agent, const Path& socket, Deadline deadline) {
  const Result<bool> sm_managed = ask(agent, socket, deadline);
  if (sm_managed) return sm_managed;
  return Error(Code::unavailable,
               "agentSocket: the node's agent does not answer at " + socket.string() + " (" +
                   sm_managed.error().text() +
                   "): start ibpod-agent, or remove the key if the node has no agent")
      .reported_as(cni::kTryAgainLater);
}

// The author of a network must not choose the agent that answers for its pods.
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

}  // namespace

AgentRequiredFile AgentRequiredFile::effective(const Path& state, const Path& of_node) {
  AgentRequiredFile node(of_node);
  return path_exists(node.file()) ? node : AgentRequiredFile(state);
}

bool AgentRequiredFile::is_in(const Path& state) const {
  return (state / "").lexically_normal() == (folder() / "").lexically_normal();
}

// Anything but "refuse" is of a later version, and this one does not know what it asks for.
Result<AgentRequiredFile::Content> AgentRequiredFile::parse(const std::string& text) {
  const json::Value mark = TRY(json::Value::parse(text));
  if (!mark.is_object()) return mark.wrong("expected an object");
  TRY(json::check_version(mark, kNewest));
  const std::optional<json::Value> socket = mark.find(kSocket);
  if (!socket) return mark.wrong("agentSocket is missing");
  Content read;
  read.socket = TRY(socket->string());
  if (!read.socket.is_absolute()) return socket->wrong("expected an absolute path");
  const std::optional<json::Value> without = mark.find(kWithoutPartition);
  if (!without) return read;
  const std::string word = TRY(without->string());
  if (word != kRefuse) return without->wrong("expected refuse, got \"" + word + "\"");
  read.needs_partition = true;
  return read;
}

Status AgentRequiredFile::write(const Path& socket, bool needs_partition) const {
  const Result<std::optional<Content>> now = content();
  if (now && *now == Content{socket, needs_partition}) return ok();
  if (is_newer(now)) return now.error();
  TRY(make_folders(folder()));
  json::Value mark = json::Value::object();
  mark.set(json::kVersion, kNewest).set(kSocket, socket.string());
  if (needs_partition) mark.set(kWithoutPartition, kRefuse);
  return write_file_atomically(file_, mark.pretty() + "\n");
}

Status AgentRequiredFile::remove() const {
  const Result<std::optional<Content>> now = content();
  if (is_newer(now)) return now.error();
  return path_exists(file_) ? remove_file(file_) : ok();
}

Result<std::optional<AgentRequiredFile::Content>> AgentRequiredFile::content() const {
  const Result<std::string> text = read_file(file_);
  if (!text && text.error().code() == Code::not_found) return std::optional<Content>();
  if (!text) return text.error();
  const Content read = TRY(parse(*text).during(file_.string()));
  return std::optional(read);
}

Result<std::optional<Path>> AgentRequiredFile::read() const {
  const std::optional<Content> now = TRY(content());
  return now ? std::optional(now->socket) : std::nullopt;
}

Result<bool> AgentRequiredFile::needs_partition() const {
  const std::optional<Content> now = TRY(content());
  return now && now->needs_partition;
}

Result<bool> check_agent(const AgentRequiredFile& required_file, const Settings& settings,
                         const Connect& agent, Deadline deadline) {
  const Result<std::optional<Path>> socket = required_file.read();
  if (!socket) return refused(required_file, "its socket is not known: " + socket.error().text());
  const Path& named = settings.agent_socket;
  if (!*socket) return named.empty() ? false : ask_named(agent, named, deadline);
  TRY(check_own(required_file, **socket, settings));
  const Result<bool> sm_managed = ask(agent, **socket, deadline);
  if (sm_managed) return sm_managed;
  return refused(required_file, "the agent does not answer at " + (*socket)->string() + " (" +
                                    sm_managed.error().text() + ")");
}

}  // namespace ibpod::attach
