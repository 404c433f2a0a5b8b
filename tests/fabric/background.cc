#include "tests/fabric/background.h"

#include "lib/base/wake.h"

#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

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

// In the child: only calls that are safe after a fork.
[[noreturn]] void become(char* const* words, char* const* environment, const char* folder,
                         int output) {
  // A killed test cannot end the programs that it started.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool ready =
      (output < 0 || (::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(output, STDERR_FILENO) >= 0)) &&
      ::chdir(folder) == 0;
  if (ready) ::execvpe(words[0], words, environment);
  ::_exit(127);
}

}  // namespace

// Reads the output as it comes: a process that writes into a full pipe blocks.
class Background::Ear {
 public:
  Ear(Fd out, Wake end) : out_(std::move(out)), end_(std::move(end)), thread_([this] { hear(); }) {}
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;
  ~Ear() {
    end_.ring();
    thread_.join();
  }

  // All so far, when that has this text, or the output is closed, or the deadline has come.
  std::string heard(const std::optional<std::string>& text, Deadline deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, deadline.left(),
                      [&] { return closed_ || (text && heard_.find(*text) != std::string::npos); });
    return heard_;
  }

 private:
  void hear() {
    std::array<char, 4096> room;
    while (true) {
      std::array<pollfd, 2> waited{{{out_.get(), POLLIN, 0}, {end_.fd(), POLLIN, 0}}};
      (void)::poll(waited.data(), waited.size(), -1);
      const bool readable = waited[0].revents != 0;
      if (!readable && waited[1].revents == 0) continue;
      const ssize_t size = readable ? ::read(out_.get(), room.data(), room.size()) : 0;
      const std::lock_guard lock(mutex_);
      if (size > 0) heard_.append(room.data(), static_cast<size_t>(size));
      closed_ = size <= 0;
      changed_.notify_all();
      if (closed_) return;
    }
  }

  const Fd out_;
  const Wake end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string heard_;
  bool closed_ = false;
  std::thread thread_;  // last: it uses all of them
};

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
  Wake end = TRY(Wake::open());
  const pid_t pid = TRY(sys("fork", [] { return ::fork(); }));
  if (pid == 0) become(arguments.data(), environment.data(), folder.c_str(), output);
  return Background(pid, std::make_unique<Ear>(std::move(read), std::move(end)));
}

Background::Background(pid_t pid, std::unique_ptr<Ear> ear) : pid_(pid), ear_(std::move(ear)) {}

Background::Background(Background&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), ear_(std::move(other.ear_)) {}

Background::~Background() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  (void)output();
  ::kill(pid_, SIGKILL);
  finish();
}

Status Background::says(const std::string& text, Deadline deadline) {
  const std::string heard = ear_->heard(text, deadline);
  if (heard.find(text) != std::string::npos) return ok();
  return Error(Code::unavailable, "nothing has said \"" + text + "\"").with_details(heard);
}

int Background::finish() {
  int status = 0;
  const auto ended = sys("waitpid", [&] { return ::waitpid(pid_, &status, 0); });
  pid_ = -1;
  if (!ended) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Background::output() { return ear_->heard({}, Deadline::in(Duration(20000))); }

}  // namespace ibpod
