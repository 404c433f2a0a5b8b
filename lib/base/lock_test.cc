#include "lib/base/lock.h"

#include "tests/support/temp_folder.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

namespace ibpod {
namespace {

constexpr Duration kSoon{10000};

TEST_CASE("a lock makes its folder, and takes it away again") {
  const TempFolder folder;
  const Path path = folder.path() / "locks/0000:3b:00.2";
  {
    const auto lock = FolderLock::take(path, Deadline::in(kSoon));
    REQUIRE(lock);
    CHECK(std::filesystem::is_directory(path));
  }
  CHECK_FALSE(path_exists(path));
}

TEST_CASE("a folder that holds something stays behind") {
  const TempFolder folder;
  const Path path = folder.path() / "vf";
  {
    const auto lock = FolderLock::take(path, Deadline::in(kSoon));
    folder.write("vf/record", "x");
  }
  CHECK(path_exists(path / "record"));
}

TEST_CASE("a second taker waits until its deadline, and is told what it waited for") {
  const TempFolder folder;
  const auto held = FolderLock::take(folder.path() / "vf", Deadline::in(kSoon));
  REQUIRE(held);
  const auto second = FolderLock::take(folder.path() / "vf", Deadline::in(Duration(30)));
  CHECK(second.error().code() == Code::unavailable);
  CHECK(second.error().text().find("/vf: another process still holds it") != std::string::npos);
  CHECK(FolderLock::take(folder.path() / "other", Deadline::in(Duration(0))));
}

TEST_CASE("a lock that was moved is one lock") {
  const TempFolder folder;
  const Path path = folder.path() / "vf";
  auto first = FolderLock::take(path, Deadline::in(kSoon));
  {
    const FolderLock second = std::move(*first);
    CHECK_FALSE(FolderLock::take(path, Deadline::in(Duration(0))));
  }
  CHECK(FolderLock::take(path, Deadline::in(Duration(0))));
}

TEST_CASE("takers that come and go never hold it at once, though each takes the folder away") {
  const TempFolder folder;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> takers;
  takers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    takers.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        const auto lock = FolderLock::take(folder.path() / "vf", Deadline::in(kSoon));
        if (!lock) ++failures;
        most = std::max(most.load(), ++inside);
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& taker : takers) taker.join();
  CHECK(most == 1);
  CHECK(failures == 0);
  CHECK_FALSE(path_exists(folder.path() / "vf"));
}

TEST_CASE("the lock of a process that was killed is free") {
  const TempFolder folder;
  std::array<int, 2> taken{};
  REQUIRE(::pipe(taken.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FolderLock::take(folder.path() / "vf", Deadline::in(kSoon));
    if (lock && ::write(taken[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  REQUIRE(::read(taken[0], &byte, 1) == 1);
  CHECK_FALSE(FolderLock::take(folder.path() / "vf", Deadline::in(Duration(0))));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(FolderLock::take(folder.path() / "vf", Deadline::in(Duration(0))));
  ::close(taken[0]);
  ::close(taken[1]);
}

TEST_CASE("a link is not followed to a lock elsewhere") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", folder.path() / "vf");
  CHECK_FALSE(FolderLock::take(folder.path() / "vf", Deadline::in(Duration(0))));
}

}  // namespace
}  // namespace ibpod
