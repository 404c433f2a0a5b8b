#include "lib/base/process.h"

#include "tests/support/temp_folder.h"

#include <fstream>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod {
namespace {

constexpr Duration kLong{20000};

Result<Finished> run_script(const std::string& script, const std::string& input = "",
                            Duration limit = kLong) {
  const TempFolder folder;
  const std::map<std::string, std::string> environment{{"PATH", "/usr/bin:/bin"},
                                                       {"WORD", "two words"}};
  return run(Command{folder.script("program", script), environment, input}, Deadline::in(limit));
}

// Waits until a process that is not ours to wait for has ended.
bool has_ended(pid_t pid, Duration limit) {
  const Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid()) return true;
  pollfd waiting{fd.get(), POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(limit.count())) == 1;
}

// Waits until a script has written its PID to a named pipe.
pid_t read_pid(const Path& fifo) {
  pid_t pid = 0;
  std::ifstream(fifo) >> pid;
  return pid;
}

TEST_CASE("a program gets its input and environment, and its two outputs come back apart") {
  const Result<Finished> result = run_script("cat; echo \"$WORD\" >&2; exit 3", "some input");
  REQUIRE(result);
  CHECK(result->exit_code == 3);
  CHECK(result->output == "some input");
  CHECK(result->errors == "two words\n");
}

TEST_CASE("nothing of our own environment is inherited") {
  ::setenv("IBPOD_TEST_SECRET", "x", 1);
  CHECK(run_script("env").value().output.find("IBPOD_TEST_SECRET") == std::string::npos);
}

TEST_CASE("no descriptor but the standard three is inherited") {
  const Fd kept(::open("/dev/null", O_RDONLY));
  REQUIRE(kept.get() > 2);
  // The fourth is the folder that ls reads.
  CHECK(run_script("exec ls /proc/self/fd").value().output == "0\n1\n2\n3\n");
}

TEST_CASE("more than a pipe holds goes both ways at once") {
  const std::string large(500000, 'x');
  const Result<Finished> result = run_script("cat", large);
  REQUIRE(result);
  CHECK(result->output == large);
}

TEST_CASE("what a program says is kept up to a megabyte, and it may say more") {
  const Result<Finished> result = run_script("head -c 3000000 /dev/zero; echo end >&2");
  REQUIRE(result);
  CHECK(result->output.size() >= 1 << 20);
  CHECK(result->output.size() < 1200000);
  CHECK(result->errors == "end\n");
}

TEST_CASE("a program that does not read its input is none the worse for it") {
  CHECK(run_script("exec <&-; echo done", std::string(500000, 'x')).value().output == "done\n");
}

TEST_CASE("a signal that ends the program counts as 128 and its number") {
  CHECK(run_script("kill -TERM $$").value().exit_code == 128 + SIGTERM);
}

TEST_CASE("SIGPIPE and blocked signals are back to normal for the program") {
  CHECK(run_script("kill -PIPE $$").value().exit_code == 128 + SIGPIPE);
}

TEST_CASE("a program that cannot be started says why") {
  const TempFolder folder;
  const auto error_of = [](const Path& program) {
    return run(Command{program, {}, "input"}, Deadline::in(kLong)).error();
  };
  CHECK(error_of(folder.path() / "none").code() == Code::not_found);
  CHECK(error_of(folder.write("plain", "x")).code() == Code::denied);
  CHECK(
      error_of(folder.path() / "none").text().ends_with("/none: exec: No such file or directory"));
  const Path busy = folder.script("busy", "");
  const Fd writer(::open(busy.c_str(), O_WRONLY | O_CLOEXEC));
  CHECK(error_of(busy).code() == Code::busy);
}

// None of them ends by itself: a run() that waited for that would not return.
TEST_CASE("the deadline ends a program that sleeps, that closed its output, that talks for ever") {
  for (const char* script : {"sleep infinity", "exec >&- 2>&-; sleep infinity", "yes",
                             "trap '' TERM; while :; do :; done"}) {
    CAPTURE(script);
    const Result<Finished> result = run_script(script, "", Duration(150));
    CHECK(result.error().code() == Code::unavailable);
    CHECK(result.error().text().ends_with("/program: timed out and was killed"));
  }
}

TEST_CASE("the deadline ends what the program has started, too") {
  const TempFolder folder;
  const Path fifo = folder.path() / "pid";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const Fd keep_open(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  const std::string script = "sleep 100 & echo $! > " + fifo.string() + "; wait";
  pollfd written{keep_open.get(), POLLIN, 0};
  bool started = false;
  // With the time that this machine needs today to come so far.
  for (const int time : {500, 4'000, 16'000}) {
    CHECK_FALSE(run_script(script, "", Duration(time)));
    started = ::poll(&written, 1, 0) == 1;
    if (started) break;
  }
  REQUIRE(started);
  CHECK(has_ended(read_pid(fifo), kLong));
}

TEST_CASE("what a program leaves behind does not hold us, even with our pipes in its hands") {
  const Result<Finished> result = run_script("sleep 100 & echo done; echo $! >&2");
  REQUIRE(result);
  CHECK(result->output == "done\n");
  const pid_t left = std::stoi(result->errors);
  CHECK_FALSE(has_ended(left, Duration(0)));
  ::kill(left, SIGKILL);
}

TEST_CASE("a parent that is killed takes the program along") {
  const TempFolder folder;
  const Path fifo = folder.path() / "pid";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const Path script = folder.script("program", "echo $$ > " + fifo.string() + "; exec sleep 100");
  const Command command{script, {{"PATH", "/usr/bin:/bin"}}, ""};
  const pid_t parent = ::fork();
  if (parent == 0) {
    (void)run(command, Deadline::in(kLong));  // it is killed in there
    ::_exit(0);
  }
  const pid_t program = read_pid(fifo);
  REQUIRE(program > 0);
  CHECK_FALSE(has_ended(program, Duration(0)));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  CHECK(has_ended(program, kLong));
}

TEST_CASE("it runs without the standard descriptors, and where children are ignored") {
  const TempFolder folder;
  const Command command{
      folder.script("program", "cat; echo err >&2; exit 5"), {{"PATH", "/bin"}}, "in"};
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGCHLD, SIG_IGN);
    for (const int standard : {0, 1, 2}) ::close(standard);
    const Result<Finished> result = run(command, Deadline::in(kLong));
    const bool good =
        result && result->exit_code == 5 && result->output == "in" && result->errors == "err\n";
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

// In a child: the process of the tests is not to lose its own.
TEST_CASE("after it there is no core dump, and no way back") {
  const pid_t child = ::fork();
  if (child == 0) {
    forbid_core_dumps();
    rlimit limit{1, 1};
    const bool none = ::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0;
    ::_exit(none && ::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace ibpod
