// A pod and the calls that a container runtime makes of the plugin for it, with or without a look
// at the plugin's steps.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "tests/vm/tracer.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::vm {

// An environment variable; empty where it is not set.
std::string variable(const char* name);

// A pod's network namespace.
class Pod {
 public:
  const Path& path() const { return path_; }
  Status make() const;
  Status drop() const;

 private:
  Status mount() const;
  Path path_{"/run/netns/faults"};
};

struct Answer {
  Traced traced;
  std::string output;
  std::string errors;
  bool done() const { return traced.exit_code == 0; }
};

enum class Watched { no, yes };

class Plugin {
 public:
  Plugin(std::string program, const Pod& pod);
  // `injection` needs the call to be watched.
  Result<Answer> call(const std::string& verb, const std::string& configuration, Watched watched,
                      const std::optional<Injection>& injection = {}) const;

 private:
  void execute(const std::string& verb) const;
  std::string program_;
  std::vector<std::string> environment_;
};

}  // namespace ibpod::vm
