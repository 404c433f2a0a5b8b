// AgentRequiredFile: requires the agent for all attachments of this node ("standalone": "refuse" in
// the agent's configuration), and a partition in each network (withoutPartition). The agent writes
// it; the plugins obey it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <optional>

namespace ibpod::attach {

// STATE/agent: {"version": 1, "agentSocket": "/run/ibpod/agent.sock", "withoutPartition": "refuse"}
class AgentRequiredFile {
 public:
  explicit AgentRequiredFile(const Path& state) : file_(state / "agent") {}
  // The file in effect: the node's own if it exists, else that in `state`, the folder of the
  // network's records, which a tenant may have chosen.
  static AgentRequiredFile effective(const Path& state, const Path& of_node);

  // The folder of records. If the node has its own file, a network cannot choose the records that
  // DEL obeys.
  Path folder() const { return file_.parent_path(); }
  // `state` may end with a slash.
  bool is_in(const Path& state) const;
  const Path& file() const { return file_; }
  // Durable when this returns; so is remove(). An equal file is not written again. unsupported for
  // a file of a newer version, which stays.
  Status write(const Path& socket, bool needs_partition = false) const;
  Status remove() const;
  // The agent's socket; nothing if there is no file. invalid or unsupported, naming the file, if it
  // cannot be understood: the agent is required all the same.
  Result<std::optional<Path>> read() const;
  // True if networks without a partition are refused. Errors as read().
  Result<bool> needs_partition() const;

 private:
  struct Content {
    Path socket;
    bool needs_partition = false;  // false in a file of an older agent
    bool operator==(const Content&) const = default;
  };
  static Result<Content> parse(const std::string& text);
  Result<std::optional<Content>> content() const;

  Path file_;
};

}  // namespace ibpod::attach
