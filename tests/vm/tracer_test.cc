#include "tests/vm/tracer.h"

#include "lib/base/files.h"
#include "tests/support/temp_folder.h"

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibpod::vm {
namespace {

// This very program, executed again with STEPS in its environment, makes three steps: two folders,
// the second in a thread of its own, and a file that a child of its makes. Exit code 3 says that a
// step was refused with EIO.
int make_steps(const std::string& folder) {
  const auto make = [&](const char* name) {
    if (::mkdir((folder + name).c_str(), 0700) == 0) return 0;
    return errno == EIO ? 3 : 4;
  };
  int code = make("/first");
  if (code != 0) return code;
  std::thread([&] { code = make("/second"); }).join();
  if (code != 0) return code;
  const pid_t child = ::fork();
  if (child < 0) return 3;
  if (child == 0) ::_exit(make("/of-child"));
  ::waitpid(child, nullptr, 0);
  return 0;
}

// Runs instead of the tests, before them.
const bool stepping = [] {
  const char* const folder = std::getenv("STEPS");
  if (folder != nullptr) ::_exit(make_steps(folder));
  return false;
}();

struct Fixture {
  TempFolder folder;
  Result<Traced> run(const std::optional<Injection>& injection = {}) const {
    const std::string steps = "STEPS=" + folder.path().string();
    return trace(
        [&] {
          std::string variable = steps;
          char program[] = "/proc/self/exe";
          char* const arguments[] = {program, nullptr};
          char* const environment[] = {variable.data(), nullptr};
          ::execve(program, arguments, environment);
        },
        injection);
  }
  bool has(const char* name) const { return path_exists(folder.path() / name); }
};

// Which number the step has: the runtime of the program makes calls of its own.
uint64_t number_of(const std::string& step) {
  for (uint64_t number = 1;; ++number) {
    const Fixture fixture;
    const auto traced = fixture.run(Injection{Fault::fail, number});
    REQUIRE(traced.ok());
    REQUIRE(!traced->hit.empty());
    if (traced->hit.starts_with("mkdir ") && traced->hit.ends_with(step)) return number;
  }
}

TEST_CASE("the steps of all threads are counted, those of a child are not") {
  const Fixture fixture;
  const auto traced = fixture.run();
  REQUIRE(traced.ok());
  CHECK(traced->exit_code == 0);
  CHECK(traced->calls >= 4);  // two folders, a thread, a process
  CHECK(traced->hit.empty());
  CHECK(fixture.has("of-child"));
  const uint64_t calls = traced->calls;
  const auto beyond = Fixture().run(Injection{Fault::kill, calls + 1});
  REQUIRE(beyond.ok());
  CHECK(beyond->calls == calls);
  CHECK(beyond->hit.empty());
  CHECK(beyond->exit_code == 0);
}

TEST_CASE("a step that is made to fail is not carried out and answers EIO") {
  for (const char* step : {"/first", "/second"}) {
    CAPTURE(step);
    const Fixture fixture;
    const auto traced = fixture.run(Injection{Fault::fail, number_of(step)});
    REQUIRE(traced.ok());
    CHECK(traced->exit_code == 3);
    CHECK_FALSE(fixture.has(step + 1));
  }
}

TEST_CASE("a program is killed before the step, or behind it") {
  for (const char* step : {"/first", "/second"}) {
    CAPTURE(step);
    const uint64_t number = number_of(step);
    const Fixture before;
    const auto killed = before.run(Injection{Fault::kill, number});
    REQUIRE(killed.ok());
    CHECK(killed->exit_code == 128 + SIGKILL);
    CHECK_FALSE(before.has(step + 1));
    const Fixture behind;
    const auto later = behind.run(Injection{Fault::kill_after, number});
    REQUIRE(later.ok());
    CHECK(later->exit_code == 128 + SIGKILL);
    CHECK(behind.has(step + 1));
    CHECK_FALSE(behind.has("of-child"));
  }
}

TEST_CASE("a command is run to its end before the step") {
  const uint64_t number = number_of("/second");
  const Fixture fixture;
  const std::string folder = fixture.folder.path().string();
  const std::string look = "ls " + folder + " >" + folder + "/seen";
  const auto traced = fixture.run(Injection{Fault::run, number, look});
  REQUIRE(traced.ok());
  CHECK(traced->exit_code == 0);
  CHECK(traced->hit.ends_with("/second"));
  const auto seen = read_file(fixture.folder.path() / "seen");
  REQUIRE(seen.ok());
  CHECK(*seen == "first\nseen\n");
  CHECK(fixture.has("second"));
  const Fixture other;
  const auto failed = other.run(Injection{Fault::run, number, "exit 1"});
  REQUIRE(failed.ok());
  CHECK(failed->hit.ends_with(", but the command has failed"));
}

TEST_CASE("faults have names") {
  for (const Fault fault : {Fault::fail, Fault::kill, Fault::kill_after, Fault::run}) {
    CHECK(parse_fault(name(fault)) == fault);
  }
  CHECK_FALSE(parse_fault("explode"));
}

}  // namespace
}  // namespace ibpod::vm
