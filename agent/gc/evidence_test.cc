#include "agent/gc/evidence.h"

#include <algorithm>
#include <array>
#include <optional>

#include <doctest/doctest.h>

namespace ibpod::agent::gc {
namespace {

using netns::NetnsStatus;

// An absent field matches anything. The first row that fits decides.
struct Rule {
  std::optional<bool> this_boot;
  std::optional<NetnsStatus> netns;
  std::optional<LivenessSource> kubelet, runtime;
  Verdict verdict;
  bool again = false;
  int used = 0;

  bool fits(const Evidence& seen) const {
    const auto is = [](const auto& wanted, auto value) { return !wanted || *wanted == value; };
    return is(this_boot, seen.this_boot) && is(netns, seen.netns) && is(kubelet, seen.kubelet) &&
           is(runtime, seen.runtime);
  }
};

constexpr std::nullopt_t any = std::nullopt;

std::vector<Rule> rules() {
  using enum LivenessSource;
  return {{false, any, any, any, Verdict::dead},
          {any, NetnsStatus::same, any, any, Verdict::live},
          {any, any, has_pod, any, Verdict::live},
          {any, any, any, has_pod, Verdict::live},
          {any, NetnsStatus::unclear, any, any, Verdict::unknown},
          {any, any, silent, any, Verdict::unknown},
          {any, any, any, silent, Verdict::unknown},
          {any, NetnsStatus::gone, none, none, Verdict::dead, false},
          {any, NetnsStatus::gone, any, any, Verdict::dead, true}};
}

std::vector<Evidence> all_evidence() {
  constexpr std::array kWitness{LivenessSource::none, LivenessSource::silent,
                                LivenessSource::has_pod, LivenessSource::lacks_pod};
  std::vector<Evidence> all;
  for (const bool boot : {true, false}) {
    for (const NetnsStatus netns_status :
         {NetnsStatus::same, NetnsStatus::gone, NetnsStatus::unclear}) {
      for (const LivenessSource kubelet : kWitness) {
        for (const LivenessSource runtime : kWitness)
          all.push_back({boot, netns_status, kubelet, runtime});
      }
    }
  }
  return all;
}

TEST_CASE("every combination of what can be seen has its verdict") {
  std::vector<Rule> table = rules();
  for (const Evidence& seen : all_evidence()) {
    const auto rule =
        std::find_if(table.begin(), table.end(), [&](const Rule& one) { return one.fits(seen); });
    REQUIRE(rule != table.end());
    ++rule->used;
    const Evaluation evaluation = evaluate(seen);
    CAPTURE(evaluation.reason);
    CHECK(evaluation.verdict == rule->verdict);
    CHECK(evaluation.needs_confirmation == rule->again);
    CHECK(!evaluation.reason.empty());
  }
  for (const Rule& rule : table) CHECK(rule.used > 0);
}

TEST_CASE("a reason tells what was seen, and why nothing was") {
  using enum LivenessSource;
  CHECK(evaluate({true, NetnsStatus::gone, lacks_pod, lacks_pod}).reason ==
        "its network namespace is gone, the kubelet does not list it for its pod, the runtime "
        "has no such sandbox");
  CHECK(evaluate({true, NetnsStatus::gone, silent, none, "connect: refused"}).reason ==
        "its network namespace is gone, but the kubelet did not list its pods: connect: "
        "refused");
  CHECK(evaluate({true, NetnsStatus::unclear, lacks_pod, none}).reason ==
        "its network namespace cannot be read, so it may still exist");
}

node::Record record_of(const std::string& pod) {
  node::Record record;
  record.device = ib::PciAddress::parse("0000:3b:00.1").value();
  record.pod = {pod.empty() ? "" : "ns", pod, "uid"};
  return record;
}

TEST_CASE("the kubelet speaks of a record by its pod's name and device") {
  const PodDevices with{"ns", "a", {"0000:3b:00.1"}};
  const PodDevices without{"ns", "a", {"0000:3b:00.2"}};
  const PodDevices elsewhere{"other", "a", {"0000:3b:00.1"}};
  struct {
    std::string pod;
    std::vector<PodDevices> pods;
    bool succeeded;
    LivenessSource want;
  } const cases[] = {
      {"a", {}, false, LivenessSource::silent},
      {"", {}, true, LivenessSource::silent},
      {"a", {without, with}, false, LivenessSource::has_pod},
      {"a", {without}, false, LivenessSource::lacks_pod},
      {"a", {elsewhere}, false, LivenessSource::lacks_pod},
      {"b", {with}, false, LivenessSource::lacks_pod},
      {"a", {with}, true, LivenessSource::lacks_pod},
      {"", {without}, false, LivenessSource::lacks_pod},
      {"", {elsewhere}, false, LivenessSource::has_pod},
  };
  for (const auto& one : cases) {
    CAPTURE(&one - cases);
    CHECK(kubelet_liveness(record_of(one.pod), one.pods, one.succeeded) == one.want);
  }
}

TEST_CASE("of a child the kubelet knows its pod's name alone") {
  const std::vector<PodDevices> pods{{"ns", "a", {}}};
  const auto says = [&](const std::string& pod, bool succeeded) {
    node::Record record = record_of(pod);
    record.child.emplace();
    return kubelet_liveness(record, pods, succeeded);
  };
  CHECK(says("a", false) == LivenessSource::has_pod);
  CHECK(says("a", true) == LivenessSource::lacks_pod);
  CHECK(says("b", false) == LivenessSource::lacks_pod);
  CHECK(says("", false) == LivenessSource::lacks_pod);
}

}  // namespace
}  // namespace ibpod::agent::gc
