#include "tests/fabric/background.h"

#include <array>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> found;
  for (std::string& text : texts) found.push_back(text.data());
  found.push_back(nullptr);
  return found;
}

std::vector<std::string> whole_environment(const std::map<std::string, std::string>& ours) {
  std::vector<std::string> all;
  for (const auto& [name, value] : ours) all.push_back(name + "=" + value);
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    const std::string setting = *inherited;
    if (!ours.contains(setting.substr(0, setting.find('=')))) all.push_back(setting);
  }
  return all;
}

// In the child: only calls that are safe behind a fork.
[[noreturn]] void become(char* const* words, char* const* environment, const char* folder,
                         int output) {
  // What is killed cannot end what it has started.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool ready =
      (output < 0 || (::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(output, STDERR_FILENO) >= 0)) &&
      ::chdir(folder) == 0;
  if (ready) ::execvpe(words[0], words, environment);
  ::_exit(127);
}

}  // namespace

Result<Background> Background::start(const Launch& launch) {
  std::array<int, 2> ends;
  TRY(sys("pipe2", [&] { return ::pipe2(ends.data(), O_CLOEXEC); }));
  Fd read(ends[0]);
  const Fd write(ends[1]);
  auto words = launch.words;
  auto settings = whole_environment(launch.environment);
  const auto arguments = pointers(words);
  const auto environment = pointers(settings);
  const std::string folder = launch.folder.string();
  const int output = launch.output == Launch::Output::kept ? write.get() : -1;
  const pid_t pid = TRY(sys("fork", [] { return ::fork(); }));
  if (pid == 0) become(arguments.data(), environment.data(), folder.c_str(), output);
  return Background(pid, std::move(read));
}

Background::Background(Background&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      out_(std::move(other.out_)),
      heard_(std::move(other.heard_)) {}

Background::~Background() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  finish();
}

bool Background::hear(Deadline deadline) {
  pollfd waited{out_.get(), POLLIN, 0};
  if (::poll(&waited, 1, static_cast<int>(deadline.left().count())) <= 0) return false;
  std::array<char, 4096> room;
  const ssize_t size = ::read(out_.get(), room.data(), room.size());
  if (size > 0) heard_.append(room.data(), static_cast<size_t>(size));
  return size > 0;
}

Status Background::says(const std::string& text, Deadline deadline) {
  while (heard_.find(text) == std::string::npos) {
    if (!hear(deadline))
      return Error(Code::unavailable, "nothing has said \"" + text + "\"").with_details(heard_);
  }
  return ok();
}

int Background::finish() {
  int status = 0;
  const auto ended = sys("waitpid", [&] { return ::waitpid(pid_, &status, 0); });
  pid_ = -1;
  if (!ended) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Background::output() {
  const Deadline deadline = Deadline::in(Duration(20000));
  while (hear(deadline)) {
  }
  return heard_;
}

}  // namespace ibpod
