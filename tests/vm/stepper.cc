// Runs a program and counts its system calls that can change something outside of it (calls.h), or
// injects a fault at one of them:
//
//   stepper count -- PROGRAM [ARGUMENT...]
//   stepper fail|kill|kill-after N -- PROGRAM [ARGUMENT...]
//   stepper run N COMMAND -- PROGRAM [ARGUMENT...]
//
// run: the shell command is run while the program is stopped before that call.
// Says on standard error how many it has counted, or which one it hit. Everything else is passed
// through, the exit code too (128 + signal).
#include "tests/vm/tracer.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace {

using namespace ibpod;

int usage() {
  std::fputs(
      "usage: stepper count|fail N|kill N|kill-after N|run N COMMAND -- PROGRAM [ARGUMENT...]\n",
      stderr);
  return 2;
}

int run(char** program, const std::optional<vm::Injection>& injection) {
  const auto traced = vm::trace([&] { ::execvp(program[0], program); }, injection);
  if (!traced) {
    std::fprintf(stderr, "stepper: %s\n", traced.error().text().c_str());
    return 126;
  }
  if (!injection) {
    std::fprintf(stderr, "stepper: %llu calls\n", static_cast<unsigned long long>(traced->calls));
  } else {
    const std::string& hit = traced->hit;
    std::fprintf(stderr, "stepper: %s\n",
                 hit.empty() ? "it does not come to that call" : hit.c_str());
  }
  return traced->exit_code;
}

}  // namespace

int main(int count, char** arguments) {
  int next = 1;
  std::optional<vm::Injection> injection;
  if (count < 3) return usage();
  if (std::strcmp(arguments[next++], "count") != 0) {
    const auto fault = vm::parse_fault(arguments[1]);
    const uint64_t number = std::strtoull(arguments[next++], nullptr, 10);
    if (!fault || number == 0) return usage();
    injection = vm::Injection{*fault, number, {}};
    if (*fault == vm::Fault::run && next < count) injection->command = arguments[next++];
  }
  if (next + 1 >= count || std::strcmp(arguments[next], "--") != 0) return usage();
  return run(arguments + next + 1, injection);
}
