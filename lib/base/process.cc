#include "lib/base/process.h"

#include "lib/base/run_on_thread.h"

#include <array>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod {
namespace {

constexpr size_t kOutputLimit = 1 << 20;
// The capacity of a pipe: one read takes all that has been written.
constexpr size_t kPipe = 1 << 16;

struct Pipe {
  Fd read;
  Fd write;
};

// A number above the standard three, should we have been started without these: dup2 of a
// descriptor onto itself would leave it to be closed by exec.
Result<Fd> above_standard(Fd fd) {
  if (fd.get() > 2) return fd;
  return Fd(TRY(sys("fcntl", [&] { return ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3); })));
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends;
  TRY(sys("pipe2", [&] { return ::pipe2(ends.data(), O_CLOEXEC); }));
  Fd read(ends[0]);
  Fd write(ends[1]);
  Pipe pipe;
  pipe.read = TRY(above_standard(std::move(read)));
  pipe.write = TRY(above_standard(std::move(write)));
  return pipe;
}

struct Streams {
  Pipe in, out, err;
  Pipe refusal;  // carries a Refusal; exec closes it
};

// Why a child could not become the program.
struct Refusal {
  const char* step;  // a literal: valid in both processes
  int error;
};

Result<Streams> make_streams() {
  Streams streams;
  for (Pipe* pipe : {&streams.in, &streams.out, &streams.err, &streams.refusal}) {
    *pipe = TRY(make_pipe());
  }
  for (const Fd* ours : {&streams.in.write, &streams.out.read, &streams.err.read}) {
    TRY(sys("fcntl", [&] { return ::fcntl(ours->get(), F_SETFL, O_NONBLOCK); }));
  }
  return streams;
}

// The child's arguments, made before vfork(): after it nothing may be allocated.
struct Launch {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int mount_namespace;  // -1: it stays in ours
  pid_t parent;
};

// In the child, as all below it: only system calls, as its memory is the parent's.
[[noreturn]] void refuse(const char* step, const Streams& streams) {
  const Refusal refusal{step, errno};
  const ssize_t told = ::write(streams.refusal.write.get(), &refusal, sizeof refusal);
  ::_exit(told == sizeof refusal ? 127 : 126);
}

void reset_signals() {
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const Launch& launch, const Streams& streams) {
  // The parent may have died before prctl: then nothing would ever end us.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || ::getppid() != launch.parent) ::_exit(127);
  ::setpgid(0, 0);  // so that at the deadline what the program has started itself ends with it
  reset_signals();
  if (launch.mount_namespace >= 0 && ::setns(launch.mount_namespace, CLONE_NEWNS) < 0)
    refuse("join its mount namespace", streams);
  if (::dup2(streams.in.read.get(), 0) < 0 || ::dup2(streams.out.write.get(), 1) < 0 ||
      ::dup2(streams.err.write.get(), 2) < 0)
    refuse("dup2", streams);
  // The program does not inherit descriptors that our own parent left open.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execve(launch.program, launch.arguments, launch.environment);
  refuse("exec", streams);
}

// A running child; killed and reaped when it goes out of scope unfinished.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);  // with its group, see become()
    ::kill(pid_, SIGKILL);
    (void)wait();  // a destructor has no caller to report to
  }
  // Readable when the child has ended. (glibc 2.36 declares pidfd_open for C only.)
  Result<Fd> open() const {
    const long fd = TRY(sys("pidfd_open", [&] { return ::syscall(SYS_pidfd_open, pid_, 0); }));
    return Fd(static_cast<int>(fd));
  }
  Result<int> wait() {
    int status = 0;
    TRY(sys("waitpid", [&] { return ::waitpid(pid_, &status, 0); }));
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

// Not fork(), which copies the page tables of the parent, however large it is.
pid_t launch_child(const Launch& launch, const Streams& streams) {
  // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): the child makes system calls only
  const pid_t pid = ::vfork();
  if (pid == 0) become(launch, streams);
  return pid;
}

Result<pid_t> start(const Command& command, const Streams& streams) {
  std::vector<std::string> lines;
  lines.reserve(command.environment.size());
  for (const auto& [key, value] : command.environment)
    lines.emplace_back(key).append("=").append(value);
  std::vector<char*> environment;
  environment.reserve(lines.size() + 1);
  for (std::string& line : lines) environment.push_back(line.data());
  environment.push_back(nullptr);
  std::string program = command.program.string();
  std::array<char*, 2> arguments{program.data(), nullptr};
  const Fd mount_namespace = TRY(open_mount_namespace(command.mount_namespace));
  const Launch launch{program.c_str(), arguments.data(), environment.data(), mount_namespace.get(),
                      ::getpid()};
  return sys("vfork", [&] { return launch_child(launch, streams); });
}

// Appends what has been written so far; closes the stream at its end.
Status drain(Fd& fd, std::string& into) {
  if (!fd.valid()) return ok();
  std::array<char, kPipe> buffer;
  const auto count = sys("read", [&] { return ::read(fd.get(), buffer.data(), buffer.size()); });
  if (!count && count.error().error_number() == EAGAIN) return ok();
  if (!count) return count.error();
  if (*count == 0) fd.close();
  if (into.size() < kOutputLimit) into.append(buffer.data(), static_cast<size_t>(*count));
  return ok();
}

// Feeds some of the input; closes the stream after it. A child that does not want it (EPIPE) is
// free not to; one that cannot be given it must not take what it got for all.
Status feed(Fd& fd, std::string_view& input) {
  if (!fd.valid()) return ok();
  const auto count = sys("write", [&] { return ::write(fd.get(), input.data(), input.size()); });
  if (!count && count.error().error_number() == EAGAIN) return ok();
  if (!count && count.error().error_number() != EPIPE) return count.error();
  input.remove_prefix(count ? static_cast<size_t>(*count) : input.size());
  if (input.empty()) fd.close();
  return ok();
}

// Carries the streams until the child has ended. It does not wait for another process that still
// holds them, such as a program that the child started.
Status converse(Streams& streams, std::string_view input, const Fd& ended, Finished& result,
                Deadline deadline) {
  if (input.empty()) streams.in.write.close();
  std::array<pollfd, 4> ready{};
  while (ready[0].revents == 0) {
    ready = {{{ended.get(), POLLIN, 0},
              {streams.out.read.get(), POLLIN, 0},
              {streams.err.read.get(), POLLIN, 0},
              {streams.in.write.get(), POLLOUT, 0}}};
    const int left = static_cast<int>(deadline.left().count());
    const int count = TRY(sys("poll", [&] { return ::poll(ready.data(), ready.size(), left); }));
    if (count == 0 || (ready[0].revents == 0 && deadline.passed())) {
      return Error(Code::unavailable, "timed out and was killed");
    }
    TRY(drain(streams.out.read, result.output));
    TRY(drain(streams.err.read, result.errors));
    TRY(feed(streams.in.write, input));
  }
  return ok();
}

// Fails if the program was not started at all.
Status check_started(const Streams& streams) {
  Refusal refusal{};
  const ssize_t count = TRY(
      sys("read", [&] { return ::read(streams.refusal.read.get(), &refusal, sizeof refusal); }));
  return count == 0 ? ok() : Status(Error::from_errno(refusal.error, refusal.step));
}

Result<Finished> run_child(const Command& command, Deadline deadline) {
  Streams streams = TRY(make_streams());
  Child child(TRY(start(command, streams)));
  const Fd ended = TRY(child.open());
  streams.in.read.close();
  streams.out.write.close();
  streams.err.write.close();
  streams.refusal.write.close();
  Finished result;
  TRY(converse(streams, command.input, ended, result, deadline));
  result.exit_code = TRY(child.wait());
  TRY(check_started(streams));
  return result;
}

}  // namespace

Result<Finished> run(const Command& command, Deadline deadline) {
  ::signal(SIGPIPE, SIG_IGN);
  // Our parent may have set SIGCHLD to be ignored: then waitpid() finds no child.
  ::signal(SIGCHLD, SIG_DFL);
  return run_child(command, deadline).during("run " + command.program.string());
}

void forbid_core_dumps() {
  constexpr rlimit kNone{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &kNone);
  (void)::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace ibpod
