// AgentMark: says that on this node nothing is attached while its agent is away (standalone: refuse
// in the agent's configuration). The agent writes it, and the plugins go by it.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/nodeapi/node.h"

#include <functional>
#include <memory>
#include <optional>

namespace ibpod::attach {

// STATE/agent: {"agentSocket": "/run/ibpod/agent.sock"}
class AgentMark {
 public:
  explicit AgentMark(const Path& state) : file_(state / "agent") {}

  const Path& file() const { return file_; }
  // On disk, flushed, when this returns; likewise removed. What is so already stays untouched.
  Status write(const Path& socket) const;
  Status remove() const;
  // Where the agent answers; nothing: there is no mark. invalid, naming the file, where it cannot
  // be understood: it is a mark all the same.
  Result<std::optional<Path>> read() const;

 private:
  Path file_;
};

// unavailable (11), saying what to do, on a marked node whose agent does not answer. `given`: the
// socket of the plugin's configuration, which goes before the mark's; empty: none.
Status check_agent(const AgentMark& mark, const Path& given,
                   const std::function<std::unique_ptr<nodeapi::Node>(const Path&)>& agent,
                   Deadline deadline);

}  // namespace ibpod::attach
