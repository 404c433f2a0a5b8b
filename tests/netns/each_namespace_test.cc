// Every namespace is found, whatever object holds it.
#include "lib/netns/each_namespace.h"

#include "lib/base/run_on_thread.h"
#include "tests/netns/host.h"
#include "tests/support/temp_folder.h"

#include <algorithm>
#include <thread>

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace ibpod {
namespace {

using netns::Identity;
using netns::NetNs;

constexpr Duration kLong{20'000};

struct Seen {
  std::vector<Identity> all;
  std::string gap;
};
Seen look(const Path& proc = "/proc") {
  Seen seen;
  const auto gap = netns::each_namespace(
      [&](NetNs netns) -> Result<bool> {
        seen.all.push_back(netns.identity().value());
        return false;
      },
      Deadline::in(kLong), proc);
  if (gap.value()) seen.gap = (*gap)->text();
  return seen;
}

bool is_found(const Identity& identity) {
  const Seen seen = look();
  return std::count(seen.all.begin(), seen.all.end(), identity) == 1;
}

bool is_found_by_cookie(const Seen& seen, uint64_t cookie) {
  return std::any_of(seen.all.begin(), seen.all.end(),
                     [&](const Identity& one) { return one.cookie == cookie; });
}

bool is_gap(const Seen& seen, const Identity& identity) {
  INFO(seen.gap);
  return seen.gap.find("namespace " + std::to_string(identity.inode)) != std::string::npos;
}

// A /proc with these processes alone: what a test cannot see of others is no gap then.
class Proc {
 public:
  explicit Proc(const std::vector<Path>& processes) {
    for (const Path& process : processes)
      std::filesystem::create_directory_symlink(process, path() / process.filename());
  }
  Path path() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

// A process that is in the namespace, or only has something open in it, until this ends. Nothing of
// this process leads there.
class Process {
 public:
  explicit Process(const std::function<void()>& begin) {
    int ready[2], end[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(end) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(end[1]);
      begin();
      char byte = 0;
      (void)!::write(ready[1], &byte, 1);
      (void)!::read(end[0], &byte, 1);
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(end[0]);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
    end_ = Fd(end[1]);
  }
  ~Process() {
    end_.close();
    ::waitpid(pid_, nullptr, 0);
  }
  Path path() const { return "/proc/" + std::to_string(pid_); }
  Path path(const std::string& file) const { return path() / file; }

 private:
  pid_t pid_ = 0;
  Fd end_;
};

// Known without being held.
Identity identity_of(const Path& path) { return NetNs::open(path)->identity().value(); }

TEST_CASE("the namespace that only a process is in is found, and gone when it ends") {
  std::optional<Process> process(std::in_place, [] { ::unshare(CLONE_NEWNET); });
  const Identity identity = identity_of(process->path("ns/net"));
  CHECK(is_found(identity));
  process.reset();
  CHECK_FALSE(is_found(identity));
}

TEST_CASE("the namespace that only a descriptor leads to is found") {
  const Process process([&] {
    const Fd host(::open("/proc/self/ns/net", O_RDONLY));
    ::unshare(CLONE_NEWNET);
    const Fd held(::open("/proc/self/ns/net", O_RDONLY));
    ::dup2(held.get(), 100);
    ::setns(host.get(), CLONE_NEWNET);
  });
  CHECK(is_found(identity_of(process.path("fd/100"))));
}

TEST_CASE("the namespace that only a socket is in is found") {
  int numbers[2];
  REQUIRE(::pipe(numbers) == 0);
  const Process process([&] {
    const Fd host(::open("/proc/self/ns/net", O_RDONLY));
    ::unshare(CLONE_NEWNET);
    const Identity identity = NetNs::current()->identity().value();
    (void)!::write(numbers[1], &*identity.cookie, sizeof *identity.cookie);
    (void)::socket(AF_INET, SOCK_DGRAM, 0);
    ::setns(host.get(), CLONE_NEWNET);
  });
  uint64_t cookie = 0;
  REQUIRE(::read(numbers[0], &cookie, sizeof cookie) == sizeof cookie);
  CHECK(is_found_by_cookie(look(), cookie));
}

TEST_CASE("the namespace that only a mount leads to is found, in whatever mount namespace") {
  const TempFolder folder;
  const Path file = folder.write("name with blanks", "");
  const Process process([&] {
    ::unshare(CLONE_NEWNS);
    ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    mount_netns(fresh_namespace(), file);
  });
  CHECK(is_found(identity_of(process.path("root" + file.string()))));
}

// Runs it in a thread that lives as long as its process.
void run_in_thread(const std::function<void()>& begin) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  std::thread([&begin, end = ready[1]] {
    begin();
    char byte = 0;
    // The thread may have a table of its own: what it writes to is its copy.
    (void)!::write(end, &byte, 1);
    ::pause();
  }).detach();
  char byte = 0;
  (void)!::read(ready[0], &byte, 1);
}

TEST_CASE("a thread with descriptors of its own: what they lead to is found, or a gap") {
  int numbers[2];
  REQUIRE(::pipe(numbers) == 0);
  const Process process([&] {
    run_in_thread([&] {
      const Fd host(::open("/proc/thread-self/ns/net", O_RDONLY));
      ::unshare(CLONE_FILES);
      ::unshare(CLONE_NEWNET);
      const Identity identity = NetNs::current()->identity().value();
      (void)::socket(AF_INET, SOCK_DGRAM, 0);
      ::setns(host.get(), CLONE_NEWNET);
      (void)!::write(numbers[1], &*identity.cookie, sizeof *identity.cookie);
    });
  });
  uint64_t cookie = 0;
  REQUIRE(::read(numbers[0], &cookie, sizeof cookie) == sizeof cookie);
  const Proc proc({process.path()});
  const Seen seen = look(proc.path());
  const bool says_gap = seen.gap.find("whose descriptors are its own") != std::string::npos;
  CHECK((is_found_by_cookie(seen, cookie) || says_gap));
}

TEST_CASE("a thread with mounts of its own: the namespace that only these lead to is found") {
  const TempFolder folder;
  const Path file = folder.write("name", "");
  int numbers[2];
  REQUIRE(::pipe(numbers) == 0);
  const Process process([&] {
    run_in_thread([&] {
      ::unshare(CLONE_NEWNS);
      ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
      const NetNs netns = fresh_namespace();
      mount_netns(netns, file);
      const uint64_t cookie = *netns.identity().value().cookie;
      (void)!::write(numbers[1], &cookie, sizeof cookie);
    });
  });
  uint64_t cookie = 0;
  REQUIRE(::read(numbers[0], &cookie, sizeof cookie) == sizeof cookie);
  CHECK(is_found_by_cookie(look(), cookie));
}

TEST_CASE("the namespace that only a covered mount leads to is a gap") {
  const TempFolder folder;
  const Path file = folder.write("name", "");
  int numbers[2];
  REQUIRE(::pipe(numbers) == 0);
  const Process covers([&] {
    ::unshare(CLONE_NEWNS);
    ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    const NetNs netns = fresh_namespace();
    mount_netns(netns, file);
    const Identity identity = netns.identity().value();
    (void)!::write(numbers[1], &identity.inode, sizeof identity.inode);
    ::mount("", folder.path().c_str(), "tmpfs", 0, nullptr);
  });
  Identity identity;
  REQUIRE(::read(numbers[0], &identity.inode, sizeof identity.inode) == sizeof identity.inode);
  const Proc proc({covers.path()});
  CHECK(is_gap(look(proc.path()), identity));
}

TEST_CASE("a covered mount is no gap where something else leads to the namespace") {
  const TempFolder folder;
  const Path file = folder.write("name", "");
  const Process inside([] { ::unshare(CLONE_NEWNET); });
  const Identity identity = identity_of(inside.path("ns/net"));
  const Process covers([&] {
    ::unshare(CLONE_NEWNS);
    ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    mount_netns(NetNs::open(inside.path("ns/net")).value(), file);
    ::mount("", folder.path().c_str(), "tmpfs", 0, nullptr);
  });
  const Proc proc({covers.path(), inside.path()});
  CHECK(look(proc.path()).gap == "");
  CHECK(is_found(identity));
}

size_t open_descriptors() { return list_folder("/proc/self/fd").value().size(); }

TEST_CASE("few descriptors are open at a time, however many namespaces there are") {
  const Process process([] {
    for (int i = 0; i < 60; ++i) {
      ::unshare(CLONE_NEWNET);
      (void)::open("/proc/self/ns/net", O_RDONLY);
    }
  });
  const size_t before = open_descriptors();
  size_t most = 0, count = 0;
  const auto looked = netns::each_namespace(
      [&](NetNs) -> Result<bool> {
        ++count;
        most = std::max(most, open_descriptors());
        return false;
      },
      Deadline::in(kLong));
  REQUIRE(looked);
  CHECK(count >= 60);
  CHECK(most <= before + 4);
}

TEST_CASE("the search ends where it is told to, and says what it had no time for") {
  int count = 0;
  const netns::NamespaceVisitor stop = [&](NetNs) -> Result<bool> {
    ++count;
    return true;
  };
  const Proc proc({"/proc/" + std::to_string(::getpid())});
  CHECK_FALSE(netns::each_namespace(stop, Deadline::in(kLong), proc.path()).value());
  CHECK(count == 1);
  const auto late = netns::each_namespace(stop, Deadline::in(Duration(0)), proc.path()).value();
  REQUIRE(late);
  CHECK(late->code() == Code::unavailable);
  CHECK(count == 1);
  const auto failed =
      netns::each_namespace([](NetNs) -> Result<bool> { return Error(Code::internal, "look"); },
                            Deadline::in(kLong), proc.path());
  CHECK(failed.error().text() == "look");
}

}  // namespace
}  // namespace ibpod
