// Console: commands for ibsim while it runs (tests/fabric/engine/main.cc gives it a console).
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
  // As if the node had been switched off: after a relink() its table has the factory's values.
  void clear(unsigned host) { tell("Clear " + port_of_host(host)); }
  // Removes killed clients, which keep their places of its ten.
  void forget_dead();

 private:
  static std::string port_of_host(unsigned host) { return "\"h" + std::to_string(host) + "\"[1]"; }
  // Sends a command. Returns the output up to the next prompt.
  std::string tell(const std::string& command);
  Fd in_;
};

}  // namespace ibpod
