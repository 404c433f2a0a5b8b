// Runs a program unchanged and steps through the system calls of all its threads that count
// (calls.h): counts them, makes one fail, kills the program at one, or has something happen to
// others while it is stopped at one. Processes that it starts itself run free.
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ibpod::vm {

enum class Fault {
  fail,        // the call is not carried out, and answers EIO
  kill,        // SIGKILL just before the call
  kill_after,  // SIGKILL when it has been carried out, before it returns
  run,         // a shell command runs, from its beginning to its end, just before the call
};
std::string_view name(Fault fault);
std::optional<Fault> parse_fault(std::string_view text);

struct Injection {
  Fault fault = Fault::fail;
  uint64_t number = 0;       // which call, from 1
  std::string command = {};  // of `run`
};

struct Traced {
  int exit_code = 0;   // 128 + signal if a signal ended it
  uint64_t calls = 0;  // how many that count it has made
  std::string hit;     // the call of the injection; empty: it did not come to that
};

// Forks; the child calls `become`, which executes the program and returns only if that fails. The
// calling process must have no other children.
Result<Traced> trace(const std::function<void()>& become,
                     const std::optional<Injection>& injection);

}  // namespace ibpod::vm
