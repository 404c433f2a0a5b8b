#include "tests/vm/tracer.h"

#include "lib/base/fd.h"
#include "tests/vm/calls.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#ifndef __x86_64__
#error "the tracer knows the registers of x86-64 only"
#endif

namespace ibpod::vm {
namespace {

constexpr uintptr_t kOptions =
    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
constexpr int kSystemCallStop = SIGTRAP | 0x80;
constexpr std::array<std::string_view, 4> kNames{"fail", "kill", "kill-after", "run"};

template <typename Data>
long request(__ptrace_request what, pid_t thread, uintptr_t address, Data data) {
  return ::ptrace(what, thread, address, data);
}

// Waits for the other end to be closed, then becomes the program.
[[noreturn]] void start(int gate, const std::function<void()>& become) {
  char nothing = 0;
  while (::read(gate, &nothing, 1) < 0 && errno == EINTR) {
  }
  become();
  ::_exit(127);
}

class Tracer {
 public:
  Tracer(pid_t process, const std::optional<Injection>& injection)
      : process_(process), injection_(injection) {}

  Result<Traced> run() {
    while (true) {
      int status = 0;
      const pid_t thread = TRY(sys("waitpid", [&] { return ::waitpid(-1, &status, __WALL); }));
      if (!WIFSTOPPED(status)) {
        if (thread != process_) continue;  // a thread's end
        traced_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return traced_;
      }
      stopped(thread, status);
    }
  }

 private:
  void stopped(pid_t thread, int status) {
    const int signal = WSTOPSIG(status);
    const int event = status >> 16;
    if (event == PTRACE_EVENT_EXEC) running_ = true;  // from here on it is the program
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
      request(PTRACE_LISTEN, thread, 0, 0);
      return;
    }
    if (signal == kSystemCallStop) system_call(thread);
    const bool delivered = event == 0 && signal != kSystemCallStop;
    // Fails where the thread has been killed meanwhile: then its end is what waitpid tells next.
    request(PTRACE_SYSCALL, thread, 0, delivered ? signal : 0);
  }

  void system_call(pid_t thread) {
    __ptrace_syscall_info info{};
    if (!running_ || request(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) entered(thread, info);
    if (info.op == PTRACE_SYSCALL_INFO_EXIT && thread == pending_) left(thread);
  }

  void entered(pid_t thread, const __ptrace_syscall_info& info) {
    SystemCall call{info.entry.nr, {}};
    for (size_t i = 0; i < call.arguments.size(); ++i) call.arguments[i] = info.entry.args[i];
    if (!counts(call)) return;
    ++traced_.calls;
    if (!injection_ || traced_.calls != injection_->number) return;
    traced_.hit = describe(thread, call);
    switch (injection_->fault) {
      case Fault::kill:
        skip(thread);
        ::kill(process_, SIGKILL);
        break;
      case Fault::fail:
        skip(thread);
        pending_ = thread;
        break;
      case Fault::kill_after:
        pending_ = thread;
        break;
      case Fault::run:
        if (std::system(injection_->command.c_str()) != 0)
          traced_.hit += ", but the command has failed";
        break;
    }
  }

  void left(pid_t thread) {
    pending_ = 0;
    if (injection_->fault == Fault::kill_after) {
      ::kill(process_, SIGKILL);
      return;
    }
    user_regs_struct registers{};
    request(PTRACE_GETREGS, thread, 0, &registers);
    registers.rax = static_cast<unsigned long long>(-EIO);
    request(PTRACE_SETREGS, thread, 0, &registers);
  }

  // A call that does not exist is not carried out.
  static void skip(pid_t thread) {
    user_regs_struct registers{};
    request(PTRACE_GETREGS, thread, 0, &registers);
    registers.orig_rax = static_cast<unsigned long long>(-1);
    request(PTRACE_SETREGS, thread, 0, &registers);
  }

  pid_t process_;
  const std::optional<Injection>& injection_;
  bool running_ = false;
  pid_t pending_ = 0;  // the thread whose call is about to return to the injection
  Traced traced_;
};

}  // namespace

std::string_view name(Fault fault) { return kNames[static_cast<size_t>(fault)]; }

std::optional<Fault> parse_fault(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

Result<Traced> trace(const std::function<void()>& become,
                     const std::optional<Injection>& injection) {
  std::array<int, 2> ends{};
  TRY(sys("pipe2", [&] { return ::pipe2(ends.data(), O_CLOEXEC); }));
  const Fd read(ends[0]);
  Fd write(ends[1]);
  const pid_t process = TRY(sys("fork", [] { return ::fork(); }));
  if (process == 0) {
    write.close();
    start(read.get(), become);
  }
  const auto seized = sys("ptrace", [&] { return request(PTRACE_SEIZE, process, 0, kOptions); });
  if (!seized) {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    return seized.error();
  }
  // The first stop has to be asked for: from it on every call stops.
  request(PTRACE_INTERRUPT, process, 0, 0);
  write.close();
  return Tracer(process, injection).run();
}

}  // namespace ibpod::vm
