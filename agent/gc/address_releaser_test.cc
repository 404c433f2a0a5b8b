#include "agent/gc/address_releaser.h"

#include "agent/gc/garbage_collector.h"
#include "agent/gc/test_fake_node.h"

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

using test::Node;
using test::Pod;
using Time = Deadline::Clock::time_point;

constexpr Duration kPause = AddressSweep::kFirstPause;

// A node of which namespaces alone decide.
struct Bed {
  Node node;
  Sweeper sweeper{node.world(false)};
  Time now{};

  Pass sweep(Duration later = Duration(0)) {
    now += later;
    return sweeper.sweep(now).value();
  }
  void kill_with_failing_ipam(const std::string& container, const std::string& device) {
    Pod& pod = node.start(container, device, container, "/run/netns/" + container);
    node.ipam_fails.insert(container);
    node.kill(pod);
  }
};

TEST_CASE(
    "a dead pod's device is free whatever its IPAM does, and the address is asked for again") {
  Bed bed;
  bed.kill_with_failing_ipam("c1", "0000:3b:00.1");
  Pass pass = bed.sweep();
  CHECK(pass.outcomes.at(0).released);
  CHECK(!pass.outcomes.at(0).quarantined());
  CHECK(bed.node.recorded().empty());
  REQUIRE(pass.owed.size() == 1);
  CHECK(pass.again == kPause);
  CHECK(bed.node.dels.size() == 1);

  pass = bed.sweep(kPause);
  CHECK(bed.node.dels.size() == 2);
  CHECK(pass.owed.at(0).failure == "IPAM hangs");
  CHECK(!pass.owed.at(0).released);
  bed.sweep(kPause - Duration(1));
  CHECK(bed.node.dels.size() == 2);
  bed.node.ipam_fails.clear();
  pass = bed.sweep(Duration(1));
  CHECK(pass.owed.at(0).released);
  CHECK(bed.node.owed().empty());
  CHECK(bed.sweep().owed.empty());
}

TEST_CASE("the pauses grow, and end when something has ended that was in the way") {
  Bed bed;
  bed.kill_with_failing_ipam("c1", "0000:3b:00.1");
  bed.sweep();
  bed.sweep(kPause);
  CHECK(bed.sweep(kPause).again == 2 * kPause);
  bed.node.ipam_fails.clear();
  bed.sweeper.end_pauses();
  CHECK(bed.sweep().owed.at(0).released);
}

TEST_CASE("an IPAM that hangs holds up no device, and is asked once in a pass") {
  Bed bed;
  for (int i = 1; i <= 3; ++i)
    bed.kill_with_failing_ipam("c" + std::to_string(i), "0000:3b:00." + std::to_string(i));
  bed.sweep();
  CHECK(bed.node.owed().size() == 3);
  bed.node.dels.clear();
  Pod& dead = bed.node.start("c9", "0000:3b:00.1", "d", "/run/netns/d");
  bed.node.kill(dead);
  Pass pass = bed.sweep(kPause);
  CHECK(bed.node.dels == std::vector<std::string>{"c9", "c1"});
  CHECK(pass.again == AddressSweep::kNext);
  bed.sweep(AddressSweep::kNext);
  bed.sweep(AddressSweep::kNext);
  // The new one's own DEL may just be asking, for as long as it is new.
  CHECK(bed.node.dels == std::vector<std::string>{"c9", "c1", "c2", "c3"});
}

TEST_CASE("what is owed and still recorded is left to the sweep of records") {
  Bed bed;
  const Pod& pod = bed.node.start("c1", "0000:3b:00.1", "a", "/run/netns/a");
  REQUIRE(bed.node.records.address_releases().write(pod.record));
  bed.sweep();
  const Pass pass = bed.sweep(kPause);
  CHECK(pass.owed.at(0).failure == "its attachment has not ended yet");
  CHECK(bed.node.dels.empty());
  CHECK(bed.node.owed().size() == 1);
}

}  // namespace
}  // namespace ibpod::agent
