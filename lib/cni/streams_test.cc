#include "lib/cni/streams.h"

#include "lib/base/fd.h"
#include "tests/support/temp_folder.h"

#include <array>
#include <cerrno>
#include <functional>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

namespace ibpod::cni {
namespace {

// Answers with what a child's work has returned: what it does to its streams stays its own. No
// assertion in there: doctest would print.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int open_file(const Path& path) { return ::open(path.c_str(), O_RDWR | O_CREAT, 0600); }

TEST_CASE("missing streams are filled: nothing that is opened later gets their numbers") {
  const TempFolder folder;
  const Path record = folder.path() / "record";
  for (int missing = 1; missing < 8; ++missing) {  // one bit a stream
    CAPTURE(missing);
    CHECK(in_child([&] {
            for (const int fd : {0, 1, 2}) {
              if ((missing >> fd & 1) != 0) ::close(fd);
            }
            if (!secure_streams()) return 1;
            return open_file(record) > 2 ? 0 : 2;
          }) == 0);
  }
}

TEST_CASE("an answer that a missing standard output takes nowhere is an error") {
  CHECK(in_child([] {
          ::close(1);
          if (!secure_streams()) return 1;
          const Status printed = print("{}");
          return !printed && printed.error().error_number() == EBADF ? 0 : 2;
        }) == 0);
}

TEST_CASE("a missing standard input reads as nothing") {
  CHECK(in_child([] {
          ::close(0);
          char byte = 0;
          return secure_streams() && ::read(0, &byte, 1) < 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("streams that are there stay what they are") {
  const TempFolder folder;
  const Path file = folder.write("stdout", "");
  CHECK(in_child([&] {
          ::dup2(open_file(file), 1);
          return secure_streams() && print("{}\n") && print("") ? 0 : 1;
        }) == 0);
  CHECK(read_file(file).value() == "{}\n");
}

TEST_CASE("a reader that is gone is an error that says so, and no signal") {
  CHECK(in_child([] {
          ::signal(SIGPIPE, SIG_DFL);
          std::array<int, 2> ends{};
          if (::pipe(ends.data()) != 0) return 1;
          ::dup2(ends[1], 1);
          ::close(ends[0]);
          if (!secure_streams()) return 2;
          const Status printed = print("{}");
          if (printed || printed.error().error_number() != EPIPE) return 3;
          return printed.error().text() == "write the answer to standard output: Broken pipe" ? 0
                                                                                              : 4;
        }) == 0);
}

TEST_CASE("a full disk behind standard output is an error") {
  CHECK(in_child([] {
          ::dup2(::open("/dev/full", O_WRONLY), 1);
          const Status printed = print("{}");
          return !printed && printed.error().error_number() == ENOSPC ? 0 : 1;
        }) == 0);
}

}  // namespace
}  // namespace ibpod::cni
