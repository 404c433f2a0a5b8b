#include "lib/attach/agent_required_file.h"

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

}  // namespace

AgentRequiredFile AgentRequiredFile::effective(const Path& state, const Path& of_node) {
  AgentRequiredFile node(of_node);
  return path_exists(node.file()) ? node : AgentRequiredFile(state);
}

bool AgentRequiredFile::is_in(const Path& state) const {
  return (state / "").lexically_normal() == (folder() / "").lexically_normal();
}

// A later version may have words other than "refuse": this version cannot obey them.
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

}  // namespace ibpod::attach
