// Whether every namespace is found, whatever holds it.
#include "lib/netns/all.h"

#include "lib/base/netns_thread.h"
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

std::vector<NetNs> all_found() { return netns::all_namespaces().value().found; }

bool is_found(const Identity& identity) {
  const std::vector<NetNs> all = all_found();
  return std::count_if(all.begin(), all.end(),
                       [&](const NetNs& one) { return one.identity().value() == identity; }) == 1;
}

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
  Path path(const std::string& file) const { return "/proc/" + std::to_string(pid_) + "/" + file; }

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
  const std::vector<NetNs> all = all_found();
  CHECK(std::any_of(all.begin(), all.end(),
                    [&](const NetNs& one) { return one.identity().value().cookie == cookie; }));
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

}  // namespace
}  // namespace ibpod
