#include "agent/gc/address_releaser.h"

#include "agent/gc/garbage_collector.h"
#include "agent/gc/test_fake_node.h"

#include <doctest/doctest.h>

namespace ibpod::agent::gc {
namespace {

using test::FakeNode;
using test::FakePod;
using Time = Deadline::Clock::time_point;

constexpr Duration kPause = AddressReleaser::kFirstPause;

// A node of which namespaces alone decide.
struct Fixture {
  FakeNode node;
  GarbageCollector collector{node.gc_deps(false)};
  Time now{};

  GcRun run_gc(Duration later = Duration(0)) {
    now += later;
    return collector.run(now).value();
  }
  void kill_with_failing_ipam(const std::string& container, const std::string& device) {
    FakePod& pod = node.start(container, device, container, "/run/netns/" + container);
    node.ipam_fails.insert(container);
    node.kill(pod);
  }
};

TEST_CASE(
    "a dead pod's device is free whatever its IPAM does, and the address is asked for again") {
  Fixture fixture;
  fixture.kill_with_failing_ipam("c1", "0000:3b:00.1");
  GcRun gc_run = fixture.run_gc();
  CHECK(gc_run.outcomes.at(0).released);
  CHECK(!gc_run.outcomes.at(0).is_quarantined());
  CHECK(fixture.node.recorded().empty());
  REQUIRE(gc_run.address_releases.size() == 1);
  CHECK(gc_run.rerun_after == kPause);
  CHECK(fixture.node.dels.size() == 1);

  gc_run = fixture.run_gc(kPause);
  CHECK(fixture.node.dels.size() == 2);
  CHECK(gc_run.address_releases.at(0).failure == "IPAM hangs");
  CHECK(!gc_run.address_releases.at(0).released);
  fixture.run_gc(kPause - Duration(1));
  CHECK(fixture.node.dels.size() == 2);
  fixture.node.ipam_fails.clear();
  gc_run = fixture.run_gc(Duration(1));
  CHECK(gc_run.address_releases.at(0).released);
  CHECK(fixture.node.address_releases().empty());
  CHECK(fixture.run_gc().address_releases.empty());
}

TEST_CASE("the pauses grow, and end when something has ended that was in the way") {
  Fixture fixture;
  fixture.kill_with_failing_ipam("c1", "0000:3b:00.1");
  fixture.run_gc();
  fixture.run_gc(kPause);
  CHECK(fixture.run_gc(kPause).rerun_after == 2 * kPause);
  fixture.node.ipam_fails.clear();
  fixture.collector.reset_pauses();
  CHECK(fixture.run_gc().address_releases.at(0).released);
}

TEST_CASE("an IPAM that hangs holds up no device, and is asked once in a pass") {
  Fixture fixture;
  for (int i = 1; i <= 3; ++i)
    fixture.kill_with_failing_ipam("c" + std::to_string(i), "0000:3b:00." + std::to_string(i));
  fixture.run_gc();
  CHECK(fixture.node.address_releases().size() == 3);
  fixture.node.dels.clear();
  FakePod& dead = fixture.node.start("c9", "0000:3b:00.1", "d", "/run/netns/d");
  fixture.node.kill(dead);
  GcRun gc_run = fixture.run_gc(kPause);
  CHECK(fixture.node.dels == std::vector<std::string>{"c9", "c1"});
  CHECK(gc_run.rerun_after == AddressReleaser::kMinRetryDelay);
  fixture.run_gc(AddressReleaser::kMinRetryDelay);
  fixture.run_gc(AddressReleaser::kMinRetryDelay);
  // The new one's own DEL may just be asking, for as long as it is new.
  CHECK(fixture.node.dels == std::vector<std::string>{"c9", "c1", "c2", "c3"});
}

TEST_CASE("what is owed and still recorded is left to the sweep of records") {
  Fixture fixture;
  const FakePod& pod = fixture.node.start("c1", "0000:3b:00.1", "a", "/run/netns/a");
  REQUIRE(fixture.node.records.address_releases().write(pod.record));
  fixture.run_gc();
  const GcRun gc_run = fixture.run_gc(kPause);
  CHECK(gc_run.address_releases.at(0).failure == "its attachment has not ended yet");
  CHECK(fixture.node.dels.empty());
  CHECK(fixture.node.address_releases().size() == 1);
}

}  // namespace
}  // namespace ibpod::agent::gc
