// Reloader: follows the configuration file. A file is taken whole or refused whole; refused, the
// last good configuration stays in force.
#pragma once

#include "agent/config/config.h"
#include "lib/base/folder_watch.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent::config {

// The result of one reading of the file.
struct Reload {
  enum class Kind { unchanged, taken, refused };
  Kind kind = Kind::unchanged;
  std::vector<std::string> reasons;   // of a refusal
  std::vector<std::string> changed;   // the keys whose values differ from before, if it was taken
  std::vector<std::string> warnings;  // of a file that was taken
};

class Reloader {
 public:
  // Reads the file for the first time. invalid with all that is wrong, where there is no good
  // configuration yet. The arguments are those of read_config().
  static Result<Reloader> start(Path file, std::string node, ConfigCheck check = {});

  // The last good one. What was odd about the first is in warnings().
  const Config& config() const { return config_; }
  const std::string& node() const { return node_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Looks at the file now. The same content, good or bad, is judged once; one that is empty or gone
  // is a bad one. A change of a key that needs a restart is a reason to refuse.
  Reload poll();
  // Looks until the file has changed or the deadline has passed (unchanged then).
  Result<Reload> wait(Deadline deadline);
  // For those who wait for other things too: call this, then poll(), then wait until the descriptor
  // is readable, and again. It is good until the next call.
  Result<int> watch();

 private:
  Reloader(Path file, std::string node, ConfigCheck check)
      : file_(std::move(file)), node_(std::move(node)), check_(std::move(check)) {}
  Reload load_text(const std::string& text);

  Path file_;
  std::string node_;
  ConfigCheck check_;
  Config config_;
  std::vector<std::string> warnings_;
  std::string last_text_;  // the content judged last, or why it could not be read
  std::optional<FolderWatch> watch_;
};

}  // namespace ibpod::agent::config
