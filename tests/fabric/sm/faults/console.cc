#include "tests/fabric/sm/faults/console.h"

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/folder_watch.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sstream>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace ibpod {
namespace {

// In the folder of the tests, as main.cc names them.
constexpr auto kConsole = "console";
constexpr auto kSaid = "ibsim.log";
constexpr auto kPrompt = "sim> ";
constexpr size_t kMostSaid = 64 << 20;

std::string said() {
  const auto text = read_file(kSaid, kMostSaid);
  return text ? *text : std::string();
}

size_t prompts(const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(kPrompt); at != text.npos; at = text.find(kPrompt, at + 1)) ++count;
  return count;
}

bool lives(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

}  // namespace

Console::Console() : in_(::open(kConsole, O_WRONLY | O_CLOEXEC)) { REQUIRE(in_.valid()); }

std::string Console::tell(const std::string& command) {
  const auto watch = FolderWatch::of_files({std::filesystem::absolute(kSaid)}).value();
  const std::string before = said();
  const std::string line = command + "\n";
  REQUIRE(::write(in_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  const Deadline deadline = Deadline::in(Duration(60000));
  std::string now = said();
  while (prompts(now) == prompts(before)) {
    REQUIRE_FALSE(deadline.passed());
    pollfd waited{watch.fd(), POLLIN, 0};
    ::poll(&waited, 1, static_cast<int>(deadline.left().count()));
    watch.drain();
    now = said();
  }
  return now.substr(before.size());
}

void Console::forget_dead() {
  std::istringstream lines(tell("Attached"));
  for (std::string line; std::getline(lines, line);) {
    unsigned client = 0;
    pid_t pid = 0;
    const size_t at = line.find("Client ");
    if (at == line.npos) continue;
    if (std::sscanf(line.c_str() + at, "Client %u: pid %d", &client, &pid) != 2) continue;
    if (!lives(pid)) tell("X " + std::to_string(client));
  }
}

}  // namespace ibpod
