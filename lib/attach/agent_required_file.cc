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

Error refused(const AgentMark& mark, const std::string& why) {
  return Error(Code::unavailable,
               "nothing is attached on this node while its agent is away (" + mark.file().string() +
                   " says so), and " + why +
                   ": start ibpod-agent, or have it allow this with \"standalone\": \"allow\" in "
                   "its configuration; where there is to be no agent, remove the file")
      .reported_as(cni::kTryAgainLater);
}

Result<bool> ask(const Connect& agent, const Path& socket, Deadline deadline) {
  const nodeapi::Health health = TRY(agent(socket)->health(deadline.at_most(kAgentTimeout)));
  return health.binds;
}

// Who names an agent does not mean to be attached without it.
Result<bool> ask_named(const Connect& agent, const Path& socket, Deadline deadline) {
  const Result<bool> binds = ask(agent, socket, deadline);
  if (binds) return binds;
  return Error(Code::unavailable, "agentSocket: the node's agent does not answer at " +
                                      socket.string() + " (" + binds.error().text() +
                                      "): start ibpod-agent, or leave the key out where there is "
                                      "to be none")
      .reported_as(cni::kTryAgainLater);
}

// Who writes a network must not choose who answers for its pods.
Status check_own(const AgentMark& mark, const Path& socket, const Settings& settings) {
  if (!mark.is_in(settings.state_folder))
    return Error(Code::invalid, "stateDir: " + settings.state_folder.string() +
                                    ": this node's agent keeps its records in " +
                                    mark.folder().string() + ": leave the key out");
  if (!settings.agent_socket.empty() && settings.agent_socket != socket)
    return Error(Code::invalid, "agentSocket: " + settings.agent_socket.string() +
                                    ": this node's agent answers at " + socket.string() +
                                    ": leave the key out");
  return ok();
}

}  // namespace

AgentMark AgentMark::that_holds(const Path& state, const Path& of_node) {
  AgentMark node(of_node);
  return path_exists(node.file()) ? node : AgentMark(state);
}

bool AgentMark::is_in(const Path& state) const {
  return (state / "").lexically_normal() == (folder() / "").lexically_normal();
}

// Anything but "refuse" is of a later version, and this one does not know what it asks for.
Result<AgentMark::Content> AgentMark::parse(const std::string& text) {
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

Status AgentMark::write(const Path& socket, bool needs_partition) const {
  const Result<std::optional<Content>> now = content();
  if (now && *now == Content{socket, needs_partition}) return ok();
  if (is_newer(now)) return now.error();
  TRY(make_folders(folder()));
  json::Value mark = json::Value::object();
  mark.set(json::kVersion, kNewest).set(kSocket, socket.string());
  if (needs_partition) mark.set(kWithoutPartition, kRefuse);
  return write_file_atomically(file_, mark.pretty() + "\n");
}

Status AgentMark::remove() const {
  const Result<std::optional<Content>> now = content();
  if (is_newer(now)) return now.error();
  return path_exists(file_) ? remove_file(file_) : ok();
}

Result<std::optional<AgentMark::Content>> AgentMark::content() const {
  const Result<std::string> text = read_file(file_);
  if (!text && text.error().code() == Code::not_found) return std::optional<Content>();
  if (!text) return text.error();
  const Content read = TRY(parse(*text).during(file_.string()));
  return std::optional(read);
}

Result<std::optional<Path>> AgentMark::read() const {
  const std::optional<Content> now = TRY(content());
  return now ? std::optional(now->socket) : std::nullopt;
}

Result<bool> AgentMark::needs_partition() const {
  const std::optional<Content> now = TRY(content());
  return now && now->needs_partition;
}

Result<bool> check_agent(const AgentMark& mark, const Settings& settings, const Connect& agent,
                         Deadline deadline) {
  const Result<std::optional<Path>> socket = mark.read();
  if (!socket) return refused(mark, "where to ask is not known: " + socket.error().text());
  const Path& named = settings.agent_socket;
  if (!*socket) return named.empty() ? false : ask_named(agent, named, deadline);
  TRY(check_own(mark, **socket, settings));
  const Result<bool> binds = ask(agent, **socket, deadline);
  if (binds) return binds;
  return refused(
      mark, "it does not answer at " + (*socket)->string() + " (" + binds.error().text() + ")");
}

}  // namespace ibpod::attach
