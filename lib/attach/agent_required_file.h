// AgentRequiredFile: says that on this node nothing is attached while its agent is away
// (standalone: refuse in the agent's configuration), and whether a network has to name a partition
// (withoutPartition). The agent writes it, and the plugins go by it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <optional>

namespace ibpod::attach {

// STATE/agent: {"version": 1, "agentSocket": "/run/ibpod/agent.sock", "withoutPartition": "refuse"}
class AgentRequiredFile {
 public:
  explicit AgentRequiredFile(const Path& state) : file_(state / "agent") {}
  // The one that holds for a network with its records in `state`: the node's own, where there is
  // one, else that of the network's folder, which may be anybody's.
  static AgentRequiredFile effective(const Path& state, const Path& of_node);

  // The records are there, too: on a node with a mark of its own who writes a network does not
  // choose by which a DEL gives back.
  Path folder() const { return file_.parent_path(); }
  // With a slash at its end or without.
  bool is_in(const Path& state) const;
  const Path& file() const { return file_; }
  // On disk, flushed, when this returns; likewise removed. What is so already stays untouched, and
  // so does a mark of a newer version: unsupported.
  Status write(const Path& socket, bool needs_partition = false) const;
  Status remove() const;
  // Where the agent answers; nothing: there is no mark. invalid or unsupported, naming the file,
  // where it cannot be understood: it is a mark all the same.
  Result<std::optional<Path>> read() const;
  // Whether it has networks without a partition refused. Errors as those of read().
  Result<bool> needs_partition() const;

 private:
  struct Content {
    Path socket;
    bool needs_partition = false;  // also of a mark that an earlier agent has written
    bool operator==(const Content&) const = default;
  };
  static Result<Content> parse(const std::string& text);
  Result<std::optional<Content>> content() const;

  Path file_;
};

}  // namespace ibpod::attach
