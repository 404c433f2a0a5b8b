#include "lib/base/process.h"

#include <array>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace ibpod {
namespace {

constexpr size_t kOutputLimit = 1 << 20;

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends;
  TRY(sys("pipe2", [&] { return ::pipe2(ends.data(), O_CLOEXEC); }));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

struct Streams {
  Pipe in, out, err;
};

// In the child, after fork: only calls that are safe there.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment,
                         const Streams& streams, pid_t parent) {
  // The parent may have died before prctl: then nobody would ever end us.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || ::getppid() != parent) ::_exit(127);
  ::signal(SIGPIPE, SIG_DFL);
  if (::dup2(streams.in.read.get(), 0) >= 0 && ::dup2(streams.out.write.get(), 1) >= 0 &&
      ::dup2(streams.err.write.get(), 2) >= 0) {
    ::execve(program, arguments, environment);
  }
  ::_exit(127);
}

// A running child; killed and reaped when it goes out of scope unfinished.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    (void)wait();  // nobody is left to tell
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

Result<pid_t> start(const Command& command, const Streams& streams) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : command.environment) lines.push_back(key + "=" + value);
  std::vector<char*> environment;
  for (std::string& line : lines) environment.push_back(line.data());
  environment.push_back(nullptr);
  std::string program = command.program.string();
  std::array<char*, 2> arguments{program.data(), nullptr};
  const pid_t parent = ::getpid();
  const pid_t pid = TRY(sys("fork", [] { return ::fork(); }));
  if (pid == 0) become(program.c_str(), arguments.data(), environment.data(), streams, parent);
  return pid;
}

// Appends what can be read. False at the end of the stream.
Result<bool> drain(const Fd& fd, std::string& into) {
  std::array<char, 4096> buffer;
  const ssize_t count =
      TRY(sys("read", [&] { return ::read(fd.get(), buffer.data(), buffer.size()); }));
  if (into.size() < kOutputLimit) into.append(buffer.data(), static_cast<size_t>(count));
  return count > 0;
}

// Feeds some of the input. A child that does not want it (EPIPE) is free not to.
bool feed(const Fd& fd, std::string_view& input) {
  const auto count = sys("write", [&] { return ::write(fd.get(), input.data(), input.size()); });
  if (!count) return count.error().error_number() == EAGAIN;
  input.remove_prefix(static_cast<size_t>(*count));
  return !input.empty();
}

// Carries the three streams until the child has closed its output.
Status converse(Streams& streams, std::string_view input, Finished& result, Deadline deadline) {
  TRY(sys("fcntl", [&] { return ::fcntl(streams.in.write.get(), F_SETFL, O_NONBLOCK); }));
  if (input.empty()) streams.in.write.close();
  while (streams.out.read.valid() || streams.err.read.valid()) {
    std::array<pollfd, 3> ready{{{streams.out.read.get(), POLLIN, 0},
                                 {streams.err.read.get(), POLLIN, 0},
                                 {streams.in.write.get(), POLLOUT, 0}}};
    const int count = TRY(sys("poll", [&] {
      return ::poll(ready.data(), ready.size(), static_cast<int>(deadline.left().count()));
    }));
    if (count == 0) return Error(Code::unavailable, "it did not finish in time and was killed");
    if (ready[0].revents != 0) {
      const bool more = TRY(drain(streams.out.read, result.output));
      if (!more) streams.out.read.close();
    }
    if (ready[1].revents != 0) {
      const bool more = TRY(drain(streams.err.read, result.errors));
      if (!more) streams.err.read.close();
    }
    if (ready[2].revents != 0 && !feed(streams.in.write, input)) streams.in.write.close();
  }
  return ok();
}

}  // namespace

Result<Finished> run(const Command& command, Deadline deadline) {
  const std::string what = "run " + command.program.string();
  Pipe in = TRY(make_pipe());
  Pipe out = TRY(make_pipe());
  Pipe err = TRY(make_pipe());
  Streams streams{std::move(in), std::move(out), std::move(err)};
  ::signal(SIGPIPE, SIG_IGN);
  Child child(TRY(start(command, streams)));
  streams.in.read.close();
  streams.out.write.close();
  streams.err.write.close();
  Finished result;
  TRY(converse(streams, command.input, result, deadline).during(what));
  result.exit_code = TRY(child.wait());
  return result;
}

}  // namespace ibpod
