// Console: what ibsim is told while it runs (tests/fabric/engine/main.cc gives it a console).
#pragma once

#include "lib/base/fd.h"

#include <string>

namespace ibpod {

class Console {
 public:
  Console();
  // Its cable is out, and back. The tables stay as they are.
  void unlink(unsigned host) { tell("Unlink " + port_of_host(host)); }
  void relink(unsigned host) { tell("ReLink " + port_of_host(host)); }
  // As if the node had been switched off: behind a relink() its table is as the factory made it.
  void clear(unsigned host) { tell("Clear " + port_of_host(host)); }
  // Whoever was killed keeps one of its ten places.
  void forget_dead();

 private:
  static std::string port_of_host(unsigned host) { return "\"h" + std::to_string(host) + "\"[1]"; }
  // What it says until it asks for the next command.
  std::string tell(const std::string& command);
  Fd in_;
};

}  // namespace ibpod
