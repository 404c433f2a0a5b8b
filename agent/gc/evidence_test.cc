#include "agent/gc/evidence.h"

#include <algorithm>
#include <array>
#include <optional>

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

using netns::Sight;

// What is left out is anything. The first row that fits decides.
struct Rule {
  std::optional<bool> this_boot;
  std::optional<Sight> netns;
  std::optional<Witness> kubelet, runtime;
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
  using enum Witness;
  return {{false, any, any, any, Verdict::dead},
          {any, Sight::same, any, any, Verdict::live},
          {any, any, has_it, any, Verdict::live},
          {any, any, any, has_it, Verdict::live},
          {any, Sight::unclear, any, any, Verdict::unknown},
          {any, any, silent, any, Verdict::unknown},
          {any, any, any, silent, Verdict::unknown},
          {any, Sight::gone, none, none, Verdict::dead, false},
          {any, Sight::gone, any, any, Verdict::dead, true}};
}

std::vector<Evidence> all_evidence() {
  constexpr std::array kWitness{Witness::none, Witness::silent, Witness::has_it, Witness::lacks_it};
  std::vector<Evidence> all;
  for (const bool boot : {true, false}) {
    for (const Sight sight : {Sight::same, Sight::gone, Sight::unclear}) {
      for (const Witness kubelet : kWitness) {
        for (const Witness runtime : kWitness) all.push_back({boot, sight, kubelet, runtime});
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
    const Judgement judgement = judge(seen);
    CAPTURE(judgement.reason);
    CHECK(judgement.verdict == rule->verdict);
    CHECK(judgement.again == rule->again);
    CHECK(!judgement.reason.empty());
  }
  for (const Rule& rule : table) CHECK(rule.used > 0);
}

TEST_CASE("a reason tells what was seen, and why nothing was") {
  using enum Witness;
  CHECK(judge({true, Sight::gone, lacks_it, lacks_it}).reason ==
        "its network namespace is gone, the kubelet does not say that its pod has it, the runtime "
        "has no such sandbox");
  CHECK(judge({true, Sight::gone, silent, none, "connect: refused"}).reason ==
        "its network namespace is gone, but the kubelet does not say which pods it has: connect: "
        "refused");
  CHECK(judge({true, Sight::unclear, lacks_it, none}).reason ==
        "its network namespace cannot be seen, which does not mean it is gone");
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
    Witness want;
  } const cases[] = {
      {"a", {}, false, Witness::silent},
      {"", {}, true, Witness::silent},
      {"a", {without, with}, false, Witness::has_it},
      {"a", {without}, false, Witness::lacks_it},
      {"a", {elsewhere}, false, Witness::lacks_it},
      {"b", {with}, false, Witness::lacks_it},
      {"a", {with}, true, Witness::lacks_it},
      {"", {without}, false, Witness::lacks_it},
      {"", {elsewhere}, false, Witness::has_it},
  };
  for (const auto& one : cases) {
    CAPTURE(&one - cases);
    CHECK(kubelet_says(record_of(one.pod), one.pods, one.succeeded) == one.want);
  }
}

TEST_CASE("of a child the kubelet knows its pod's name alone") {
  const std::vector<PodDevices> pods{{"ns", "a", {}}};
  const auto says = [&](const std::string& pod, bool succeeded) {
    node::Record record = record_of(pod);
    record.child.emplace();
    return kubelet_says(record, pods, succeeded);
  };
  CHECK(says("a", false) == Witness::has_it);
  CHECK(says("a", true) == Witness::lacks_it);
  CHECK(says("b", false) == Witness::lacks_it);
  CHECK(says("", false) == Witness::lacks_it);
}

}  // namespace
}  // namespace ibpod::agent
