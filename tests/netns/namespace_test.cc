// lib/netns and lib/sysfs against the running kernel.
#include "lib/netns/namespace_thread.h"
#include "lib/nl/uevent.h"
#include "lib/sysfs/sysfs.h"
#include "tests/netns/host.h"
#include "tests/support/temp_folder.h"

#include <cerrno>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/mount.h>

namespace ibpod {
namespace {

using netns::NetNs;

TEST_CASE("two namespaces differ, and one is the same however it was opened") {
  const NetNs own = NetNs::current().value();
  const NetNs again = NetNs::open("/proc/thread-self/ns/net").value();
  const NetNs other = fresh_namespace();
  CHECK(*own.identity() == *again.identity());
  CHECK(*own.identity() != *other.identity());
  CHECK(own.identity()->cookie != other.identity()->cookie);
}

TEST_CASE("a cookie is never used again, even where the inode number is") {
  std::optional<uint64_t> last;
  for (int i = 0; i < 5; ++i) {
    const auto identity = fresh_namespace().identity().value();
    CHECK(identity.cookie != last);
    last = identity.cookie;
  }
}

TEST_CASE("a thread of a namespace does all work there, and its owner stays where it is") {
  const NetNs other = fresh_namespace();
  const auto own = NetNs::current()->identity().value();
  std::vector<std::thread::id> threads;
  std::vector<bool> inside;
  netns::NamespaceThread thread(other.fd());
  for (int i = 0; i < 3; ++i) {
    CHECK(thread.run([&]() -> Status {
      threads.push_back(std::this_thread::get_id());
      const bool same = TRY(NetNs::current().value().is_same(other));
      inside.push_back(same);
      return ok();
    }));
  }
  CHECK(inside == std::vector<bool>{true, true, true});
  CHECK(threads.at(0) == threads.at(2));
  CHECK(threads.at(0) != std::this_thread::get_id());
  CHECK(NetNs::current()->identity().value() == own);
  const Status refused = thread.run([] { return Error(Code::busy, "no"); });
  CHECK(refused.error().text() == "no");
}

TEST_CASE("a thread that cannot enter its namespace does no work, and says so each time") {
  const Fd none;
  netns::NamespaceThread thread(none);
  for (int i = 0; i < 2; ++i) {
    const Status refused = thread.run([] {
      FAIL("worked outside");
      return ok();
    });
    CHECK(refused.error().error_number() == EBADF);
  }
}

TEST_CASE("what a file becomes when its namespace is unmounted is not found") {
  const TempFolder folder;
  const Path path = folder.write("pod1", "");
  const NetNs other = fresh_namespace();
  const std::string source = "/proc/self/fd/" + std::to_string(other.fd().get());
  REQUIRE(::mount(source.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0);
  CHECK(*NetNs::open(path)->identity() == *other.identity());
  REQUIRE(::umount2(path.c_str(), MNT_DETACH) == 0);
  CHECK(NetNs::open(path).error().code() == Code::not_found);
}

TEST_CASE("a fresh sysfs shows the links of its namespace and no others") {
  const NetNs pod = fresh_namespace();
  nl::Socket inside = nl::Socket::open_in(pod.fd(), nl::Family::route).value();
  add_pair(inside);
  const auto view = sysfs::Sysfs::of_netns(pod.fd()).value();
  CHECK(*view.list("class/net") == std::vector<std::string>{"host0", "host1", "lo"});
  CHECK(*view.read("class/net/host0/mtu") == "1500");
  const auto own = sysfs::Sysfs::of_netns(NetNs::current()->fd()).value();
  CHECK(!own.exists("class/net/host0"));
}

TEST_CASE("a namespace's view is read-only") {
  const auto view = sysfs::Sysfs::of_netns(NetNs::current()->fd()).value();
  const Status written = view.write("class/net/lo/mtu", "1400");
  CHECK(written.error().code() == Code::unsupported);
}

TEST_CASE("a view outlives the namespace it is of") {
  const auto view = sysfs::Sysfs::of_netns(fresh_namespace().fd()).value();
  CHECK(*view.list("class/net") == std::vector<std::string>{"lo"});
}

TEST_CASE("a uevent wakes the waiter of its namespace") {
  nl::Uevents events = nl::Uevents::open().value();
  pollfd waiting{events.fd(), POLLIN, 0};
  CHECK(::poll(&waiting, 1, 0) == 0);
  nl::Socket own = nl::Socket::open(nl::Family::route).value();
  add_pair(own);
  CHECK(::poll(&waiting, 1, 5000) == 1);
  events.discard_pending();
  CHECK(::poll(&waiting, 1, 0) == 0);
  CHECK(nl::remove_link(own, link_named(own, "host0").index).ok());
  CHECK(::poll(&waiting, 1, 5000) == 1);
}

}  // namespace
}  // namespace ibpod
