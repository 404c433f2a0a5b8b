#include "agent/gc/garbage_collector.h"

#include "agent/gc/test_fake_node.h"

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

using test::Killed;
using test::Node;
using test::Pod;
using Time = Deadline::Clock::time_point;

constexpr Duration kAgreement = Sweeper::kAgreement;
const std::string kVf = "0000:3b:00.1";
const std::string kOtherVf = "0000:3b:00.2";
const Path kPath = "/run/netns/a";

// A node with one pod, and the agent on it.
struct Bed {
  Node node;
  Pod& pod = node.start("c1", kVf, "a", kPath);
  Sweeper sweeper{node.world()};
  Time now{};

  Pass sweep(Duration later = Duration(0)) {
    now += later;
    return sweeper.sweep(now).value();
  }
  Outcome sweep_one(Duration later = Duration(0)) { return sweep(later).outcomes.at(0); }
};

TEST_CASE("a living pod is left alone, and the kubelet is not even asked") {
  Bed bed;
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = bed.sweep_one(kAgreement);
    CHECK(outcome.verdict == Verdict::live);
    CHECK(!outcome.quarantined());
  }
  CHECK(bed.node.dels.empty());
  CHECK(bed.node.kubelet_asked == 0);
  CHECK(bed.node.text_on_disk(bed.pod.record) == bed.pod.text);
}

TEST_CASE("a dead pod's VF is in quarantine until a second pass agrees, and released then") {
  Bed bed;
  bed.node.kill(bed.pod);
  Pass pass = bed.sweep();
  CHECK(pass.outcomes.at(0).verdict == Verdict::dead);
  CHECK(pass.outcomes.at(0).quarantined());
  CHECK(pass.outcomes.at(0).vf->text() == kVf);
  CHECK(
      pass.outcomes.at(0).text().ends_with("it will be looked at once more before it is released"));
  CHECK(pass.again == kAgreement);
  pass = bed.sweep(kAgreement - Duration(1));
  CHECK(pass.again == Duration(1));
  CHECK(bed.node.dels.empty());
  pass = bed.sweep(Duration(1));
  CHECK(pass.outcomes.at(0).released);
  CHECK(!pass.outcomes.at(0).quarantined());
  CHECK(!pass.again);
  CHECK(bed.node.recorded().empty());
  CHECK(bed.sweep().outcomes.empty());
}

TEST_CASE("every verdict is told before anything is ended") {
  Bed bed;
  Pod& other = bed.node.start("c2", kOtherVf, "b", "/run/netns/b");
  bed.node.kill(bed.pod);
  bed.node.kill(other);
  size_t told = 0;
  Sweeper sweeper(bed.node.world(), [&](const Pass& pass) {
    ++told;
    CHECK(bed.node.dels.empty());
    REQUIRE(pass.outcomes.size() == 2);
    for (const Outcome& outcome : pass.outcomes) CHECK(outcome.quarantined());
  });
  CHECK(sweeper.sweep(bed.now));
  CHECK(told == 1);
  CHECK(sweeper.sweep(bed.now + kAgreement));
  CHECK(told == 2);
  CHECK(bed.node.dels.size() == 2);
}

TEST_CASE("a pass that does not say dead in between begins the count anew") {
  for (const Node::Kubelet answer : {Node::Kubelet::empty, Node::Kubelet::silent}) {
    Bed bed;
    bed.node.kill(bed.pod);
    bed.sweep();
    bed.node.kubelet = answer;
    CHECK(bed.sweep_one(kAgreement).verdict == Verdict::unknown);
    CHECK(bed.sweep_one().quarantined());
    bed.node.kubelet = Node::Kubelet::right;
    CHECK(!bed.sweep_one(kAgreement).released);
    CHECK(bed.sweep_one(kAgreement).released);
  }
}

TEST_CASE("a reason says which source did not answer") {
  Bed bed;
  bed.node.kill(bed.pod);
  bed.node.kubelet = Node::Kubelet::silent;
  CHECK(bed.sweep_one().text() ==
        "its network namespace is gone, but the kubelet does not say which pods it has: "
        "pod-resources: refused");
}

TEST_CASE(
    "a record of another boot is released at once, and so is one that namespaces alone decide") {
  Bed bed;
  bed.node.kill(bed.pod);
  bool kubelet = true;
  std::string boot = bed.node.boot;
  SUBCASE("another boot") { boot = "boot-2"; }
  SUBCASE("no kubelet") { kubelet = false; }
  World world = bed.node.world(kubelet);
  world.boot_id = boot;
  CHECK(Sweeper(world).sweep(bed.now)->outcomes.at(0).released);
  CHECK(bed.node.kubelet_asked == 0);
}

TEST_CASE("without the host's mounts nothing is touched, whatever the kubelet says") {
  Bed bed;
  bed.node.propagated = false;
  bed.node.kubelet = Node::Kubelet::half;
  for (int i = 0; i < 3; ++i) bed.sweep(kAgreement);
  CHECK(bed.node.dels.empty());
  CHECK(bed.sweep_one().quarantined());
  bed.node.kubelet = Node::Kubelet::right;
  CHECK(bed.sweep_one().verdict == Verdict::live);
}

TEST_CASE("what the kubelet still names is live; that of a pod of the same name before it is not") {
  Bed bed;
  bed.node.kill(bed.pod);
  bed.node.lingering.insert("c1");
  CHECK(bed.sweep_one().verdict == Verdict::live);
  bed.node.start("c2", kOtherVf, "a", "/run/netns/b");
  CHECK(bed.sweep_one().verdict == Verdict::dead);
  CHECK(bed.sweep_one(kAgreement).released);
  CHECK(bed.node.recorded() == std::vector<std::string>{"c2"});
}

TEST_CASE("the runtime is a witness too, where it is asked") {
  Bed bed;
  Sweeper sweeper(bed.node.world(true, true));
  bed.node.kill(bed.pod);
  bed.node.runtime = Node::Runtime::silent;
  CHECK(sweeper.sweep(bed.now)->outcomes.at(0).verdict == Verdict::unknown);
  bed.node.runtime = Node::Runtime::right;
  CHECK(sweeper.sweep(bed.now)->outcomes.at(0).verdict == Verdict::dead);
  CHECK(sweeper.sweep(bed.now + kAgreement)->outcomes.at(0).released);
}

TEST_CASE("a path that another pod's namespace has now does not keep the dead") {
  Bed bed;
  bed.node.kill(bed.pod);
  const Pod& next = bed.node.start("c2", kOtherVf, "b", kPath);
  bed.sweep();
  bed.sweep(kAgreement);
  CHECK(bed.node.recorded() == std::vector<std::string>{"c2"});
  CHECK(bed.node.text_on_disk(next.record) == next.text);
}

TEST_CASE("what the plugin cannot end stays in quarantine, with its words, until it can") {
  Bed bed;
  bed.node.kill(bed.pod);
  bed.sweep();
  bed.node.failure = "IPAM says no";
  Outcome outcome = bed.sweep_one(kAgreement);
  CHECK(outcome.quarantined());
  CHECK(outcome.failure == "IPAM says no");
  bed.node.failure.clear();
  bed.node.leaves = true;
  outcome = bed.sweep_one(Sweeper::kFirstPause);
  CHECK(outcome.quarantined());
  CHECK(outcome.failure.starts_with("the plugin's DEL left the record"));
  bed.node.leaves = false;
  CHECK(bed.sweep_one(2 * Sweeper::kFirstPause).released);
}

// A DEL that binds the device anew and fails is heard of as a change of devices, which asks for the
// next pass.
TEST_CASE("what could not be released is not tried again before a pause, whoever asks") {
  Bed bed;
  bed.node.kill(bed.pod);
  bed.sweep();
  bed.node.failure = "the VF shows another GUID";
  bed.sweep(kAgreement);
  const int seconds[] = {5, 10, 20, 40, 60, 60};
  for (size_t tries = 1; const int pause : seconds) {
    CAPTURE(pause);
    for (int i = 0; i < 10; ++i) {
      const Outcome outcome = bed.sweep_one();
      CHECK(outcome.verdict == Verdict::dead);
      CHECK(outcome.quarantined());
      CHECK(outcome.failure == bed.node.failure);
    }
    CHECK(bed.sweep().again == Duration(pause * 1000));
    CHECK(bed.sweep(Duration(pause * 1000 - 1)).again == Duration(1));
    CHECK(bed.node.dels.size() == tries);
    bed.sweep(Duration(1));
    CHECK(bed.node.dels.size() == ++tries);
  }
  bed.node.failure.clear();
  CHECK(!bed.sweep_one().released);
  CHECK(bed.sweep_one(Duration(60'000)).released);
}

TEST_CASE("when what was in the way has gone, pauses end") {
  Bed bed;
  bed.node.kill(bed.pod);
  bed.sweep();
  bed.node.failure = "the SM service is away";
  bed.sweep(kAgreement);
  bed.sweep(Sweeper::kFirstPause);
  bed.node.failure.clear();
  CHECK(!bed.sweep_one().released);
  bed.sweeper.end_pauses();
  CHECK(bed.sweep_one().released);
}

TEST_CASE("a pause is at most what the caller says, and at least the first one") {
  Bed bed;
  bed.node.kill(bed.pod);
  bed.sweep();
  bed.node.failure = "no";
  bed.now += kAgreement;
  for (const int longest : {1, 5, 7, 7}) {
    const Pass pass = bed.sweeper.sweep(bed.now, Duration(longest * 1000)).value();
    CHECK(pass.again == Duration(std::max(longest, 5) * 1000));
    bed.now += *pass.again;
  }
}

TEST_CASE("a pause is of an attempt: what comes after it is released at once") {
  Bed bed;
  World world = bed.node.world(false);
  Sweeper sweeper(world);
  bed.node.kill(bed.pod);
  bed.node.failure = "no";
  CHECK(sweeper.sweep(bed.now)->again == Sweeper::kFirstPause);
  bed.node.failure.clear();
  SUBCASE("the same one") { CHECK(!sweeper.sweep(bed.now)->outcomes.at(0).released); }
  SUBCASE("the next one") {
    bed.node.kill(bed.node.start("c1", kVf, "a", kPath));
    CHECK(sweeper.sweep(bed.now)->outcomes.at(0).released);
  }
  SUBCASE("another pod's") {
    bed.node.kill(bed.node.start("c2", kOtherVf, "b", "/run/netns/b"));
    CHECK(sweeper.sweep(bed.now)->outcomes.at(1).released);
  }
}

TEST_CASE("an ADD of the same container that comes just before the DEL is passed by") {
  Bed bed;
  bed.node.kill(bed.pod);
  bed.sweep();
  bed.node.before_del = [&] { bed.node.start("c1", kVf, "a", kPath); };
  CHECK(bed.sweep_one(kAgreement).released);
  bed.node.before_del = [] {};
  CHECK(bed.sweep_one().verdict == Verdict::live);
  CHECK(bed.node.text_on_disk(bed.pod.record) == bed.pod.text);
}

TEST_CASE("suspicion is of an attempt: the next one of the same container begins anew") {
  Bed bed;
  bed.node.kill(bed.pod);
  bed.sweep();
  bed.node.kill(bed.node.start("c1", kVf, "a", kPath));
  CHECK(!bed.sweep_one(kAgreement).released);
  CHECK(bed.sweep_one(kAgreement).released);
}

TEST_CASE("a damaged record is in quarantine until its device is in no pod") {
  Bed bed;
  bed.node.damage(bed.pod);
  const Outcome outcome = bed.sweep_one();
  CHECK(outcome.verdict == Verdict::unknown);
  CHECK(outcome.quarantined());
  CHECK(outcome.vf->text() == kVf);
  CHECK(outcome.failure == "a pod may still have it");
  bed.node.kill(bed.pod);
  CHECK(!bed.sweep_one().released);
  CHECK(bed.sweep_one(Sweeper::kFirstPause).released);
}

TEST_CASE("a record of a newer version is left alone") {
  Bed bed;
  bed.pod.text.replace(bed.pod.text.find("\"version\": 1"), 12, "\"version\": 9");
  const Path file = bed.node.state.path() / "attachments" / kVf / "c1:net1.json";
  std::ofstream(file) << bed.pod.text;
  bed.node.kill(bed.pod);
  bed.sweep();
  const Outcome outcome = bed.sweep_one(kAgreement);
  CHECK(outcome.quarantined());
  CHECK(outcome.reason.find("a newer ibpod wrote it") != std::string::npos);
  CHECK(*read_file(file) == bed.pod.text);
}

TEST_CASE("a child's outcome puts no VF into quarantine") {
  Node node;
  Pod& pod = node.start("c1", kVf, "a", kPath);
  std::filesystem::remove_all(node.state.path() / "attachments");
  pod.record.child.emplace().link = "ibpod0123456789";
  node.write(pod);
  node.kill(pod);
  CHECK(!Sweeper(node.world()).sweep(Time{})->outcomes.at(0).vf);
}

TEST_CASE("an agent that is killed at any step of a sweep leaves what the next one mends") {
  int n = 0;
  for (;; ++n) {
    CAPTURE(n);
    Bed bed;
    const Pod live = bed.node.start("c2", kOtherVf, "b", "/run/netns/b");
    bed.node.kill(bed.pod);
    bed.node.steps_to_live = n;
    bool killed = false;
    try {
      bed.sweep();
      bed.sweep(kAgreement);
    } catch (const Killed&) {
      killed = true;
    }
    bed.node.steps_to_live = -1;
    Sweeper next(bed.node.world());
    REQUIRE(next.sweep(bed.now).ok());
    REQUIRE(next.sweep(bed.now + kAgreement).ok());
    CHECK(bed.node.recorded() == std::vector<std::string>{"c2"});
    CHECK(bed.node.text_on_disk(live.record) == live.text);
    if (!killed) break;
  }
  CHECK(n > 8);
}

TEST_CASE("IPoIB children without a record are removed in every pass, and what fails is told") {
  Bed bed;
  CHECK(bed.sweep().strays.empty());
  bed.node.strays = {"eth0"};
  bed.node.failure = "the plugin is not there";
  const Pass failed = bed.sweep();
  CHECK(failed.strays == std::vector<std::string>{"eth0"});
  CHECK(failed.strays_failure == bed.node.failure);
  CHECK(bed.node.strays.size() == 1);
  bed.node.failure.clear();
  CHECK(bed.sweep().strays_failure.empty());
  CHECK(bed.node.strays.empty());
}

}  // namespace
}  // namespace ibpod::agent
