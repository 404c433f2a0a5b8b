#include "sm/opensm/opensm_process.h"

#include <array>
#include <csignal>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace ibpod::sm::opensm {
namespace {

// posix_spawn and related functions return an errno.
Status check(int error, std::string_view what) {
  if (error == 0) return ok();
  return Error::from_errno(error, what);
}

// The child's standard streams go to /dev/null, and no other file is open; it has its own session
// and default signals.
class Preparation {
 public:
  Preparation() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
  Preparation(Preparation&&) = delete;
  Preparation& operator=(Preparation&&) = delete;
  ~Preparation() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  Status prepare(const Path& folder) {
    for (int stream = 0; stream <= 2; ++stream) {
      TRY(check(::posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_RDWR, 0),
                "streams"));
    }
    TRY(check(::posix_spawn_file_actions_addclosefrom_np(&actions_, 3), "descriptors"));
    TRY(check(::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()), "folder"));
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    TRY(check(::posix_spawnattr_setsigmask(&attributes_, &none), "signals"));
    TRY(check(::posix_spawnattr_setsigdefault(&attributes_, &all), "signals"));
    constexpr short kFlags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    return check(::posix_spawnattr_setflags(&attributes_, kFlags), "flags");
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> found;
  for (std::string& text : texts) found.push_back(text.data());
  found.push_back(nullptr);
  return found;
}

}  // namespace

Result<OpenSmProcess> OpenSmProcess::start(const OpenSmLaunch& launch, const Path& conf,
                                           const Path& folder) {
  std::vector<std::string> words{launch.program.string(), "-F", conf.string()};
  std::vector<std::string> settings;
  for (const auto& [name, value] : launch.environment) settings.push_back(name + "=" + value);
  const auto arguments = pointers(words);
  const auto environment = pointers(settings);
  Preparation preparation;
  TRY(preparation.prepare(folder));
  pid_t pid = 0;
  TRY(check(::posix_spawn(&pid, words[0].c_str(), preparation.actions(), preparation.attributes(),
                          arguments.data(), environment.data()),
            "start " + words[0]));
  return adopt(pid);
}

Result<OpenSmProcess> OpenSmProcess::adopt(pid_t pid) {
  const long fd = TRY(sys("open process " + std::to_string(pid),
                          [&] { return ::syscall(SYS_pidfd_open, pid, 0); }));
  return OpenSmProcess(pid, Fd(static_cast<int>(fd)));
}

bool OpenSmProcess::ended() const {
  pollfd waited{fd_.get(), POLLIN, 0};
  return ::poll(&waited, 1, 0) > 0;
}

void OpenSmProcess::reap() const {
  siginfo_t info{};
  (void)::waitid(P_PIDFD, static_cast<id_t>(fd_.get()), &info, WEXITED | WNOHANG);  // or no child
}

Status OpenSmProcess::send(int signal, const char* name) const {
  TRY(sys(std::string("send ") + name + " to process " + std::to_string(pid_),
          [&] { return ::syscall(SYS_pidfd_send_signal, fd_.get(), signal, nullptr, 0); }));
  return ok();
}

Status OpenSmProcess::hup() const { return send(SIGHUP, "SIGHUP"); }

Status OpenSmProcess::end(bool kill) const {
  return kill ? send(SIGKILL, "SIGKILL") : send(SIGTERM, "SIGTERM");
}

}  // namespace ibpod::sm::opensm
