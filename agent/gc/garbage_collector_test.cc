#include "agent/gc/garbage_collector.h"

#include "agent/gc/test_fake_node.h"

#include <doctest/doctest.h>

namespace ibpod::agent::gc {
namespace {

using test::AgentKilled;
using test::FakeNode;
using test::FakePod;
using Time = Deadline::Clock::time_point;

constexpr Duration kConfirmationDelay = GarbageCollector::kConfirmationDelay;
const std::string kVf = "0000:3b:00.1";
const std::string kOtherVf = "0000:3b:00.2";
const Path kPath = "/run/netns/a";

// A node with one pod, and the agent on it.
struct Fixture {
  FakeNode node;
  FakePod& pod = node.start("c1", kVf, "a", kPath);
  GarbageCollector collector{node.gc_deps()};
  Time now{};

  GcRun run_gc(Duration later = Duration(0)) {
    now += later;
    return collector.run(now).value();
  }
  Outcome run_gc_once(Duration later = Duration(0)) { return run_gc(later).outcomes.at(0); }
};

TEST_CASE("a living pod is left alone, and the kubelet is not even asked") {
  Fixture fixture;
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = fixture.run_gc_once(kConfirmationDelay);
    CHECK(outcome.verdict == Verdict::live);
    CHECK(!outcome.is_quarantined());
  }
  CHECK(fixture.node.dels.empty());
  CHECK(fixture.node.kubelet_asked == 0);
  CHECK(fixture.node.text_on_disk(fixture.pod.record) == fixture.pod.text);
}

TEST_CASE("a dead pod's VF is in quarantine until a second pass agrees, and released then") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  GcRun gc_run = fixture.run_gc();
  CHECK(gc_run.outcomes.at(0).verdict == Verdict::dead);
  CHECK(gc_run.outcomes.at(0).is_quarantined());
  CHECK(gc_run.outcomes.at(0).vf->text() == kVf);
  CHECK(
      gc_run.outcomes.at(0).text().ends_with("it will be checked once more before it is released"));
  CHECK(gc_run.rerun_after == kConfirmationDelay);
  gc_run = fixture.run_gc(kConfirmationDelay - Duration(1));
  CHECK(gc_run.rerun_after == Duration(1));
  CHECK(fixture.node.dels.empty());
  gc_run = fixture.run_gc(Duration(1));
  CHECK(gc_run.outcomes.at(0).released);
  CHECK(!gc_run.outcomes.at(0).is_quarantined());
  CHECK(!gc_run.rerun_after);
  CHECK(fixture.node.recorded().empty());
  CHECK(fixture.run_gc().outcomes.empty());
}

TEST_CASE("every verdict is told before anything is ended") {
  Fixture fixture;
  FakePod& other = fixture.node.start("c2", kOtherVf, "b", "/run/netns/b");
  fixture.node.kill(fixture.pod);
  fixture.node.kill(other);
  size_t told = 0;
  GarbageCollector collector(fixture.node.gc_deps(), [&](const GcRun& gc_run) {
    ++told;
    CHECK(fixture.node.dels.empty());
    REQUIRE(gc_run.outcomes.size() == 2);
    for (const Outcome& outcome : gc_run.outcomes) CHECK(outcome.is_quarantined());
  });
  CHECK(collector.run(fixture.now));
  CHECK(told == 1);
  CHECK(collector.run(fixture.now + kConfirmationDelay));
  CHECK(told == 2);
  CHECK(fixture.node.dels.size() == 2);
}

TEST_CASE("a pass in between without the verdict dead resets the count") {
  for (const FakeNode::Kubelet answer : {FakeNode::Kubelet::empty, FakeNode::Kubelet::silent}) {
    Fixture fixture;
    fixture.node.kill(fixture.pod);
    fixture.run_gc();
    fixture.node.kubelet = answer;
    CHECK(fixture.run_gc_once(kConfirmationDelay).verdict == Verdict::unknown);
    CHECK(fixture.run_gc_once().is_quarantined());
    fixture.node.kubelet = FakeNode::Kubelet::right;
    CHECK(!fixture.run_gc_once(kConfirmationDelay).released);
    CHECK(fixture.run_gc_once(kConfirmationDelay).released);
  }
}

TEST_CASE("a reason says which source did not answer") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  fixture.node.kubelet = FakeNode::Kubelet::silent;
  CHECK(fixture.run_gc_once().text() ==
        "its network namespace is gone, but the kubelet did not list its pods: "
        "pod-resources: refused");
}

TEST_CASE(
    "a record of another boot is released at once, and so is one that namespaces alone decide") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  bool kubelet = true;
  std::string boot = fixture.node.boot;
  SUBCASE("another boot") { boot = "boot-2"; }
  SUBCASE("no kubelet") { kubelet = false; }
  GcDeps deps = fixture.node.gc_deps(kubelet);
  deps.boot_id = boot;
  CHECK(GarbageCollector(deps).run(fixture.now)->outcomes.at(0).released);
  CHECK(fixture.node.kubelet_asked == 0);
}

TEST_CASE("without the host's mounts nothing is touched, whatever the kubelet says") {
  Fixture fixture;
  fixture.node.propagated = false;
  fixture.node.kubelet = FakeNode::Kubelet::half;
  for (int i = 0; i < 3; ++i) fixture.run_gc(kConfirmationDelay);
  CHECK(fixture.node.dels.empty());
  CHECK(fixture.run_gc_once().is_quarantined());
  fixture.node.kubelet = FakeNode::Kubelet::right;
  CHECK(fixture.run_gc_once().verdict == Verdict::live);
}

TEST_CASE("what the kubelet still names is live; that of a pod of the same name before it is not") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  fixture.node.lingering.insert("c1");
  CHECK(fixture.run_gc_once().verdict == Verdict::live);
  fixture.node.start("c2", kOtherVf, "a", "/run/netns/b");
  CHECK(fixture.run_gc_once().verdict == Verdict::dead);
  CHECK(fixture.run_gc_once(kConfirmationDelay).released);
  CHECK(fixture.node.recorded() == std::vector<std::string>{"c2"});
}

TEST_CASE("the runtime is a witness too, where it is asked") {
  Fixture fixture;
  GarbageCollector collector(fixture.node.gc_deps(true, true));
  fixture.node.kill(fixture.pod);
  fixture.node.runtime = FakeNode::Runtime::silent;
  CHECK(collector.run(fixture.now)->outcomes.at(0).verdict == Verdict::unknown);
  fixture.node.runtime = FakeNode::Runtime::right;
  CHECK(collector.run(fixture.now)->outcomes.at(0).verdict == Verdict::dead);
  CHECK(collector.run(fixture.now + kConfirmationDelay)->outcomes.at(0).released);
}

TEST_CASE("a path that another pod's namespace has now does not keep the dead") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  const FakePod& next = fixture.node.start("c2", kOtherVf, "b", kPath);
  fixture.run_gc();
  fixture.run_gc(kConfirmationDelay);
  CHECK(fixture.node.recorded() == std::vector<std::string>{"c2"});
  CHECK(fixture.node.text_on_disk(next.record) == next.text);
}

TEST_CASE("what the plugin cannot end stays in quarantine, with its words, until it can") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  fixture.run_gc();
  fixture.node.failure = "IPAM says no";
  Outcome outcome = fixture.run_gc_once(kConfirmationDelay);
  CHECK(outcome.is_quarantined());
  CHECK(outcome.failure == "IPAM says no");
  fixture.node.failure.clear();
  fixture.node.del_has_no_effect = true;
  outcome = fixture.run_gc_once(GarbageCollector::kFirstPause);
  CHECK(outcome.is_quarantined());
  CHECK(outcome.failure.starts_with("the plugin's DEL did not remove the record"));
  fixture.node.del_has_no_effect = false;
  CHECK(fixture.run_gc_once(2 * GarbageCollector::kFirstPause).released);
}

// A DEL that binds the device again and fails is seen as a change of devices, which requests the
// next pass.
TEST_CASE("a failed release is not tried again before a pause, whatever requests the pass") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  fixture.run_gc();
  fixture.node.failure = "the VF shows another GUID";
  fixture.run_gc(kConfirmationDelay);
  const int seconds[] = {5, 10, 20, 40, 60, 60};
  for (size_t tries = 1; const int pause : seconds) {
    CAPTURE(pause);
    for (int i = 0; i < 10; ++i) {
      const Outcome outcome = fixture.run_gc_once();
      CHECK(outcome.verdict == Verdict::dead);
      CHECK(outcome.is_quarantined());
      CHECK(outcome.failure == fixture.node.failure);
    }
    CHECK(fixture.run_gc().rerun_after == Duration(pause * 1000));
    CHECK(fixture.run_gc(Duration(pause * 1000 - 1)).rerun_after == Duration(1));
    CHECK(fixture.node.dels.size() == tries);
    fixture.run_gc(Duration(1));
    CHECK(fixture.node.dels.size() == ++tries);
  }
  fixture.node.failure.clear();
  CHECK(!fixture.run_gc_once().released);
  CHECK(fixture.run_gc_once(Duration(60'000)).released);
}

TEST_CASE("when what was in the way has gone, pauses end") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  fixture.run_gc();
  fixture.node.failure = "the SM service is away";
  fixture.run_gc(kConfirmationDelay);
  fixture.run_gc(GarbageCollector::kFirstPause);
  fixture.node.failure.clear();
  CHECK(!fixture.run_gc_once().released);
  fixture.collector.reset_pauses();
  CHECK(fixture.run_gc_once().released);
}

TEST_CASE("a pause is at most what the caller says, and at least the first one") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  fixture.run_gc();
  fixture.node.failure = "no";
  fixture.now += kConfirmationDelay;
  for (const int longest : {1, 5, 7, 7}) {
    const GcRun gc_run = fixture.collector.run(fixture.now, Duration(longest * 1000)).value();
    CHECK(gc_run.rerun_after == Duration(std::max(longest, 5) * 1000));
    fixture.now += *gc_run.rerun_after;
  }
}

TEST_CASE("a pause is of an attempt: what comes after it is released at once") {
  Fixture fixture;
  GcDeps deps = fixture.node.gc_deps(false);
  GarbageCollector collector(deps);
  fixture.node.kill(fixture.pod);
  fixture.node.failure = "no";
  CHECK(collector.run(fixture.now)->rerun_after == GarbageCollector::kFirstPause);
  fixture.node.failure.clear();
  SUBCASE("the same one") { CHECK(!collector.run(fixture.now)->outcomes.at(0).released); }
  SUBCASE("the next one") {
    fixture.node.kill(fixture.node.start("c1", kVf, "a", kPath));
    CHECK(collector.run(fixture.now)->outcomes.at(0).released);
  }
  SUBCASE("another pod's") {
    fixture.node.kill(fixture.node.start("c2", kOtherVf, "b", "/run/netns/b"));
    CHECK(collector.run(fixture.now)->outcomes.at(1).released);
  }
}

TEST_CASE("an ADD of the same container that comes just before the DEL is passed by") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  fixture.run_gc();
  fixture.node.before_del = [&] { fixture.node.start("c1", kVf, "a", kPath); };
  CHECK(fixture.run_gc_once(kConfirmationDelay).released);
  fixture.node.before_del = [] {};
  CHECK(fixture.run_gc_once().verdict == Verdict::live);
  CHECK(fixture.node.text_on_disk(fixture.pod.record) == fixture.pod.text);
}

TEST_CASE("the count belongs to one attempt: the next of the same container starts at zero") {
  Fixture fixture;
  fixture.node.kill(fixture.pod);
  fixture.run_gc();
  fixture.node.kill(fixture.node.start("c1", kVf, "a", kPath));
  CHECK(!fixture.run_gc_once(kConfirmationDelay).released);
  CHECK(fixture.run_gc_once(kConfirmationDelay).released);
}

TEST_CASE("a damaged record is in quarantine until its device is in no pod") {
  Fixture fixture;
  fixture.node.damage(fixture.pod);
  const Outcome outcome = fixture.run_gc_once();
  CHECK(outcome.verdict == Verdict::unknown);
  CHECK(outcome.is_quarantined());
  CHECK(outcome.vf->text() == kVf);
  CHECK(outcome.failure == "a pod may still have it");
  fixture.node.kill(fixture.pod);
  CHECK(!fixture.run_gc_once().released);
  CHECK(fixture.run_gc_once(GarbageCollector::kFirstPause).released);
}

TEST_CASE("a record of a newer version is left alone") {
  Fixture fixture;
  fixture.pod.text.replace(fixture.pod.text.find("\"version\": 1"), 12, "\"version\": 9");
  const Path file = fixture.node.state.path() / "attachments" / kVf / "c1:net1.json";
  std::ofstream(file) << fixture.pod.text;
  fixture.node.kill(fixture.pod);
  fixture.run_gc();
  const Outcome outcome = fixture.run_gc_once(kConfirmationDelay);
  CHECK(outcome.is_quarantined());
  CHECK(outcome.reason.find("run the newer ibpod that wrote it") != std::string::npos);
  CHECK(*read_file(file) == fixture.pod.text);
}

TEST_CASE("a child's outcome puts no VF into quarantine") {
  FakeNode node;
  FakePod& pod = node.start("c1", kVf, "a", kPath);
  std::filesystem::remove_all(node.state.path() / "attachments");
  pod.record.child.emplace().link = "ibpod0123456789";
  node.write(pod);
  node.kill(pod);
  CHECK(!GarbageCollector(node.gc_deps()).run(Time{})->outcomes.at(0).vf);
}

TEST_CASE("an agent that is killed at any step of a sweep leaves what the next one mends") {
  int n = 0;
  for (;; ++n) {
    CAPTURE(n);
    Fixture fixture;
    const FakePod live = fixture.node.start("c2", kOtherVf, "b", "/run/netns/b");
    fixture.node.kill(fixture.pod);
    fixture.node.steps_to_live = n;
    bool killed = false;
    try {
      fixture.run_gc();
      fixture.run_gc(kConfirmationDelay);
    } catch (const AgentKilled&) {
      killed = true;
    }
    fixture.node.steps_to_live = -1;
    GarbageCollector next(fixture.node.gc_deps());
    REQUIRE(next.run(fixture.now).ok());
    REQUIRE(next.run(fixture.now + kConfirmationDelay).ok());
    CHECK(fixture.node.recorded() == std::vector<std::string>{"c2"});
    CHECK(fixture.node.text_on_disk(live.record) == live.text);
    if (!killed) break;
  }
  CHECK(n > 8);
}

TEST_CASE("IPoIB children without a record are removed in every pass, and what fails is told") {
  Fixture fixture;
  CHECK(fixture.run_gc().strays.empty());
  fixture.node.strays = {"eth0"};
  fixture.node.failure = "the plugin is not there";
  const GcRun failed = fixture.run_gc();
  CHECK(failed.strays == std::vector<std::string>{"eth0"});
  CHECK(failed.strays_failure == fixture.node.failure);
  CHECK(fixture.node.strays.size() == 1);
  fixture.node.failure.clear();
  CHECK(fixture.run_gc().strays_failure.empty());
  CHECK(fixture.node.strays.empty());
}

}  // namespace
}  // namespace ibpod::agent::gc
