// Seeded runs: pods come and go on a node whose kubelet, plugin and view of namespaces fail, and
// whose agent is killed. The devices of a living pod always stay as its ADD left them; and when the
// node has recovered, nothing of dead pods is left. SEED=n repeats a run.
#include "agent/gc/garbage_collector.h"
#include "agent/gc/test_fake_node.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include <doctest/doctest.h>

namespace ibpod::agent::gc {
namespace {

using test::AgentKilled;
using test::FakeNode;
using test::FakePod;

constexpr uint32_t kRuns = 50;
constexpr int kEvents = 40;

class Run {
 public:
  explicit Run(uint32_t seed) : random_(seed) {
    node_.before_del = [this] { start_again(); };
  }

  void go() {
    for (int i = 0; i < kEvents; ++i) {
      happen();
      check_living();
    }
    settle();
    check_living();
    check_dead();
  }

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void happen() {
    switch (pick(9)) {
      case 0:
      case 1:
        return start();
      case 2:
        return end();
      case 3:
        node_.kubelet = static_cast<FakeNode::Kubelet>(pick(4));
        return;
      case 4:
        node_.propagated = pick(3) != 0;
        node_.failure = pick(3) == 0 ? "out of order" : "";
        node_.lingering.clear();
        node_.ipam_fails.clear();
        if (pick(2) == 0) node_.ipam_fails = {"c1", "c3", "c5"};
        return;
      case 5:
        return pick(6) == 0 ? reboot() : disturb();
      default:
        return run_gc_or_die();
    }
  }

  // As an ADD's claim does: the record of a pod that is gone gives way, a living one's does not.
  void start() {
    const std::string device = "0000:3b:00." + std::to_string(pick(4));
    for (auto& [container, pod] : node_.pods) {
      const bool here = pod.record.device.text() == device && node_.text_on_disk(pod.record);
      if (here && (pod.alive || damaged_.contains(container))) return;
      if (here) node_.remove(pod.record);
    }
    // Few paths and few names: they are used again and again.
    const std::string container = "c" + std::to_string(pick(12));
    if (node_.pods.contains(container) && node_.pods[container].alive) return;
    if (damaged_.contains(container)) return;
    if (node_.pods.contains(container)) node_.remove(node_.pods[container].record);
    const Path path = "/run/netns/" + std::to_string(pick(6));
    if (node_.paths.contains(path)) return;
    node_.start(container, device, "pod" + std::to_string(pick(4)), path);
  }

  // The same container starts again while a DEL of its last attempt is underway.
  void start_again() {
    const node::Record record = node_.pods[node_.dels.back()].record;
    if (pick(4) != 0 || node_.paths.contains(record.netns.path)) return;
    node_.start(record.container_id, record.device.text(), record.pod.name, record.netns.path);
  }

  void end() {
    std::vector<FakePod*> living;
    for (auto& [container, pod] : node_.pods) {
      if (pod.alive) living.push_back(&pod);
    }
    if (living.empty()) return;
    FakePod& pod = *living[static_cast<size_t>(pick(static_cast<int>(living.size())))];
    const Path path = pod.record.netns.path;
    node_.kill(pod);
    switch (pick(5)) {
      case 0:
        if (!damaged_.contains(pod.record.container_id)) node_.remove(pod.record);
        return;
      case 1:
        node_.plain_files.insert(path);
        return;
      case 2:  // the namespace of another process
        node_.paths[path] = {4, pod.record.netns.identity.inode, 1000000};
        return;
      case 3:
        node_.lingering.insert(pod.record.container_id);
        return;
      default:
        return;
    }
  }

  void disturb() {
    for (auto& [container, pod] : node_.pods) {
      if (pick(4) != 0 || !node_.text_on_disk(pod.record)) continue;
      node_.damage(pod);
      pod.text = "{";
      damaged_.insert(container);
      return;
    }
  }

  void reboot() {
    for (auto& [container, pod] : node_.pods) node_.kill(pod);
    node_.paths.clear();
    node_.plain_files.clear();
    node_.boot += "'";
    collector_ = std::make_unique<GarbageCollector>(node_.gc_deps());
  }

  void run_gc_or_die() {
    node_.steps_to_live = pick(3) == 0 ? pick(12) : -1;
    try {
      run_gc();
    } catch (const AgentKilled&) {
      collector_ = std::make_unique<GarbageCollector>(node_.gc_deps());
    }
    node_.steps_to_live = -1;
  }

  void run_gc() {
    now_ += Duration(pick(2 * static_cast<int>(GarbageCollector::kConfirmationDelay.count())));
    REQUIRE(collector_->run(now_).ok());
    std::erase_if(damaged_, [&](const std::string& container) {
      return !node_.text_on_disk(node_.pods[container].record);
    });
  }

  void settle() {
    node_.kubelet = FakeNode::Kubelet::right;
    node_.propagated = true;
    node_.failure.clear();
    node_.lingering.clear();
    node_.ipam_fails.clear();
    node_.plain_files.clear();
    // Past the longest pause after a release that has failed.
    for (int i = 0; i < 2; ++i) {
      now_ += 6 * GarbageCollector::kConfirmationDelay;
      REQUIRE(collector_->run(now_).ok());
    }
  }

  void check_living() {
    for (const auto& [container, pod] : node_.pods) {
      CAPTURE(container);
      if (pod.alive) CHECK(node_.text_on_disk(pod.record) == pod.text);
    }
  }

  void check_dead() {
    for (const auto& [container, pod] : node_.pods) {
      CAPTURE(container);
      if (!pod.alive) CHECK(!node_.text_on_disk(pod.record));
    }
    // A living attachment may have a note, from an end that was interrupted: its own DEL needs it.
    for (const std::string& container : node_.address_releases()) {
      CAPTURE(container);
      CHECK(node_.pods[container].alive);
    }
  }

  std::mt19937 random_;
  FakeNode node_;
  std::unique_ptr<GarbageCollector> collector_ =
      std::make_unique<GarbageCollector>(node_.gc_deps());
  std::set<std::string> damaged_;
  Deadline::Clock::time_point now_{};
};

uint32_t number_in(const char* variable, uint32_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? static_cast<uint32_t>(std::stoul(given)) : otherwise;
}

TEST_CASE("in many lives of a node no living pod is touched, and no dead one is left") {
  const uint32_t first = number_in("SEED", std::random_device()());
  const uint32_t runs = number_in("RUNS", kRuns);
  std::printf("sweeps: %u runs from seed %u\n", runs, first);
  for (uint32_t i = 0; i < runs; ++i) {
    CAPTURE(first + i);
    Run(first + i).go();
  }
}

}  // namespace
}  // namespace ibpod::agent::gc
