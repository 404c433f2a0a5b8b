#include "lib/attach/agent_mark.h"

#include "lib/cni/errors.h"
#include "lib/json/value.h"

namespace ibpod::attach {
namespace {

constexpr const char* kSocket = "agentSocket";
// An agent that is there answers at once, from what it saw last.
constexpr Duration kPatience{5'000};

Result<Path> parse(const std::string& text) {
  const json::Value mark = TRY(json::Value::parse(text));
  if (!mark.is_object()) return mark.wrong("expected an object");
  const std::optional<json::Value> socket = mark.find(kSocket);
  if (!socket) return mark.wrong("agentSocket is missing");
  const std::string path = TRY(socket->string());
  if (!Path(path).is_absolute()) return socket->wrong("expected an absolute path");
  return Path(path);
}

Error refused(const AgentMark& mark, const std::string& why) {
  return Error(Code::unavailable,
               "nothing is attached on this node while its agent is away (" + mark.file().string() +
                   " says so), and " + why +
                   ": start ibpod-agent, or have it allow this with \"standalone\": \"allow\" in "
                   "its configuration; where there is to be no agent, remove the file")
      .reported_as(cni::kTryAgainLater);
}

}  // namespace

Status AgentMark::write(const Path& socket) const {
  const Result<std::optional<Path>> now = read();
  if (now && *now == socket) return ok();
  TRY(make_folders(file_.parent_path()));
  return write_file_atomically(file_,
                               json::Value::object().set(kSocket, socket.string()).pretty() + "\n");
}

Status AgentMark::remove() const { return path_exists(file_) ? remove_file(file_) : ok(); }

Result<std::optional<Path>> AgentMark::read() const {
  const Result<std::string> text = read_file(file_);
  if (!text && text.error().code() == Code::not_found) return std::optional<Path>();
  if (!text) return text.error();
  const Path socket = TRY(parse(*text).during(file_.string()));
  return std::optional(socket);
}

Status check_agent(const AgentMark& mark, const Path& given,
                   const std::function<std::unique_ptr<nodeapi::Node>(const Path&)>& agent,
                   Deadline deadline) {
  const Result<std::optional<Path>> marked = mark.read();
  if (marked && !*marked) return ok();
  if (!marked && given.empty())
    return refused(mark, "where to ask is not known: " + marked.error().text());
  const Path socket = given.empty() ? **marked : given;
  const Result<nodeapi::Health> health = agent(socket)->health(deadline.at_most(kPatience));
  if (health) return ok();
  return refused(mark,
                 "it does not answer at " + socket.string() + " (" + health.error().text() + ")");
}

}  // namespace ibpod::attach
