// ibpod-sm is killed before each of its steps: each write into the database and partitions.conf,
// each flush and rename, each SIGHUP, each packet that sets something. Behind each of them it comes
// back with all that it had acknowledged, and what was underway is done when it is asked for again.
//   STEPS=all  every step, and every write of which half is done
#include "tests/fabric/sm/faults/faults.h"
#include "tests/fabric/sm/faults/step_fixture.h"

#include <algorithm>
#include <functional>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr unsigned kMoved = 2;  // the host whose binding is made, changed and taken away

std::string create_red(SmBed& bed) {
  const auto made = bed.client().create_partition(SmBed::tenancy("red"), SmBed::patience());
  if (made || made.error().code() == Code::exists) return "there";
  return made.error().text();
}

std::string delete_red(SmBed& bed) {
  const auto gone = bed.client().delete_partition("red", SmBed::patience());
  if (gone || gone.error().code() == Code::not_found) return "gone";
  return gone.error().text();
}

std::string members_of_red(SmBed& bed, bool storage) {
  fabric::Tenancy red = SmBed::tenancy("red");
  if (storage) red.members = {{guid_of(5), fabric::Membership::full, "storage"}};
  const auto updated = bed.client().update_partition(red, SmBed::patience());
  return updated ? "updated" : updated.error().text();
}

// Host kMoved is in this partition, and in no other; empty: it is not bound.
bool moved_is_in(const Shown& now, const std::string& partition) {
  const fabric::Binding* const binding = now.find(SmBed::request(kMoved, "").attachment);
  if (binding == nullptr || partition.empty()) return binding == nullptr && partition.empty();
  return binding->shares.size() == 1 && binding->shares.front().partition == partition;
}

// A change, from what it begins, how it is answered when it is done, and what is so from then on.
struct Change {
  std::string name;
  std::function<std::string(SmBed&)> make, unmake;
  std::string answer;
  std::function<bool(const Shown&)> is_so;
};

const std::vector<Change>& changes() {
  const auto bind_to = [](const char* partition) {
    return [=](SmBed& bed) { return bed.bind(kMoved, partition); };
  };
  const auto unbind = [](SmBed& bed) { return bed.unbind(kMoved); };
  const auto has = [](const char* partition) {
    return [=](const Shown& now) { return moved_is_in(now, partition); };
  };
  static const std::vector<Change> all{
      {"create a partition", create_red, delete_red, "there",
       [](const Shown& now) { return now.find("red") != nullptr; }},
      {"change a partition", [](SmBed& bed) { return members_of_red(bed, true); },
       [](SmBed& bed) { return members_of_red(bed, false); }, "updated",
       [](const Shown& now) { return now.find("red")->tenancy.members.size() == 1; }},
      {"bind", bind_to("blue"), unbind, "verified", has("blue")},
      {"change a binding", bind_to("red"), bind_to("blue"), "verified", has("red")},
      {"unbind", unbind, bind_to("red"), "released", has("")},
      {"delete a partition", delete_red, create_red, "gone",
       [](const Shown& now) {
         const auto* const red = now.find("red");
         return red == nullptr || red->state == fabric::TenancyState::deleting;
       }},
  };
  return all;
}

// What changes a partition is answered when it is on disk.
void until_swept(SmBed& bed) {
  bed.until([&] {
    const Shown now = shown(bed);
    const auto* const red = now.find("red");
    return red == nullptr || red->state == fabric::TenancyState::ready;
  });
}

// The same, or until it has come to its last step: it goes on behind its answer.
void until_swept_or_ended(StepBed& bed) {
  bed.until([&] {
    if (bed.stepper.ended()) return true;
    const auto listed = bed.client().list_partitions({}, SmBed::patience());
    return listed && std::none_of(listed->items.begin(), listed->items.end(), [](const auto& one) {
             return one.tenancy.name == "red" && one.state != fabric::TenancyState::ready;
           });
  });
}

void make(const Change& change, SmBed& bed) {
  REQUIRE(change.make(bed) == change.answer);
  until_swept(bed);
}

// What was acknowledged is there as soon as it serves.
void check_acknowledged(SmBed& bed, const Shown& before) {
  const Shown now = shown(bed);
  for (const fabric::Binding& binding : before.bindings) {
    if (binding.guid == guid_of(kMoved)) continue;
    const fabric::Binding* const still = now.find(binding.attachment);
    REQUIRE(still != nullptr);
    CHECK(still->shares == binding.shares);
  }
  REQUIRE(now.find("blue") != nullptr);
  CHECK(now.find("blue")->tenancy == before.find("blue")->tenancy);
}

// False: it was done before it came to that step.
bool try_step(StepBed& bed, const Change& change, int64_t step, bool torn) {
  const Shown before = shown(bed);
  bed.stepper.arm(step, torn);
  const std::string answer = change.make(bed);
  if (!bed.stepper.ended()) {
    bed.stepper.disarm();
    CHECK(answer == change.answer);
    until_swept_or_ended(bed);
    if (!bed.stepper.ended()) return false;
  }
  INFO(change.name << " killed at step " << step << (torn ? ", torn: " : ": ")
                   << bed.stepper.last());
  check_kept(bed);
  bed.restart();
  check_acknowledged(bed, before);
  check_kept(bed);
  check_claims(bed);
  if (answer == change.answer) CHECK(change.is_so(shown(bed)));
  CHECK(change.make(bed) == change.answer);
  until_swept(bed);
  bed.until([&] { return bed.all_verified(); });
  check_truth(bed);
  return true;
}

// From what it begins to what it begins.
void unmake(const Change& change, SmBed& bed) {
  (void)change.unmake(bed);
  until_swept(bed);
}

size_t kill_in(StepBed& bed, const Change& change, std::mt19937& random) {
  bed.stepper.arm(int64_t{1} << 40);
  make(change, bed);
  const int64_t steps = bed.stepper.disarm();
  size_t killed = 0;
  for (const bool torn : {false, true}) {
    for (const int64_t step : some_of(steps, 1, random)) {
      unmake(change, bed);
      killed += try_step(bed, change, step, torn) ? 1 : 0;
    }
  }
  MESSAGE(change.name << ": " << steps << " steps, killed at " << killed);
  return killed;
}

TEST_CASE("killed at any step of a change, it comes back, and the change is done again") {
  StepBed bed;
  bed.start();
  bed.partition("blue");
  REQUIRE(bed.bind(kKept, "blue") == "verified");
  std::mt19937 random = random_of("changes");
  size_t killed = 0;
  for (const Change& change : changes()) {
    CAPTURE(change.name);
    killed += kill_in(bed, change, random);
    check_truth(bed);
  }
  CHECK(killed > 0);
}

}  // namespace
}  // namespace ibpod
