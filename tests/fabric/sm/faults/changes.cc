#include "tests/fabric/sm/faults/changes.h"

#include "tests/fabric/sm/faults/faults.h"

#include <algorithm>
#include <optional>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr unsigned kMoved = 2;  // the host whose binding is made, changed and taken away

std::string create_red(SmFixture& fixture) {
  const auto made = fixture.client().create_partition(SmFixture::sample_partition("red"),
                                                      SmFixture::deadline_in());
  if (made || made.error().code() == Code::exists) return "there";
  return made.error().text();
}

std::string delete_red(SmFixture& fixture) {
  const auto gone = fixture.client().delete_partition("red", SmFixture::deadline_in());
  if (gone || gone.error().code() == Code::not_found) return "gone";
  return gone.error().text();
}

std::string members_of_red(SmFixture& fixture, std::optional<fabric::Membership> storage) {
  fabric::Partition red = SmFixture::sample_partition("red");
  if (storage) red.members = {{guid_of(5), *storage, "storage"}};
  const auto updated = fixture.client().update_partition(red, SmFixture::deadline_in());
  return updated ? "updated" : updated.error().text();
}

// Host kMoved is in this partition, and in no other; empty: it is not bound.
bool moved_is_in(const ServiceView& now, const std::string& partition) {
  const fabric::Binding* const binding = now.find(SmFixture::request(kMoved, "").attachment);
  if (binding == nullptr || partition.empty()) return binding == nullptr && partition.empty();
  return binding->desired.size() == 1 && binding->desired.front().partition == partition;
}

// A change, from what it begins, how it is answered when it is done, and what is so from then on.
struct Change {
  std::string name;
  std::function<std::string(SmFixture&)> make, unmake;
  std::string answer;
  std::function<bool(const ServiceView&)> is_so;
};

const std::vector<Change>& changes() {
  using fabric::Membership;
  const auto member_of_red = [](std::optional<Membership> storage) {
    return [=](SmFixture& fixture) { return members_of_red(fixture, storage); };
  };
  const auto bind_to = [](const char* partition) {
    return [=](SmFixture& fixture) { return fixture.bind(kMoved, partition); };
  };
  const auto unbind = [](SmFixture& fixture) { return fixture.unbind(kMoved); };
  const auto has = [](const char* partition) {
    return [=](const ServiceView& now) { return moved_is_in(now, partition); };
  };
  static const std::vector<Change> all{
      {"create a partition", create_red, delete_red, "there",
       [](const ServiceView& now) { return now.find("red") != nullptr; }},
      {"change a partition", member_of_red(Membership::full), member_of_red(std::nullopt),
       "updated", [](const ServiceView& now) { return now.find("red")->spec.members.size() == 1; }},
      {"narrow a member", member_of_red(Membership::limited), member_of_red(Membership::full),
       "updated",
       [](const ServiceView& now) {
         return now.find("red")->spec.members.front().membership == Membership::limited;
       }},
      {"bind", bind_to("blue"), unbind, "verified", has("blue")},
      {"change a binding", bind_to("red"), bind_to("blue"), "verified", has("red")},
      {"unbind", unbind, bind_to("red"), "released", has("")},
      {"delete a partition", delete_red, create_red, "gone",
       [](const ServiceView& now) {
         const auto* const red = now.find("red");
         return red == nullptr || red->state == fabric::PartitionState::deleting;
       }},
  };
  return all;
}

// A change of a partition is answered when it is on disk.
void until_swept(SmFixture& fixture) {
  fixture.until([&] {
    const ServiceView now = read_service(fixture);
    const auto* const red = now.find("red");
    return red == nullptr || red->state == fabric::PartitionState::ready;
  });
}

// The same, or until it has come to its last step: it goes on after its answer.
void until_swept_or_ended(StepFixture& fixture) {
  fixture.until([&] {
    if (fixture.stepper.ended()) return true;
    const auto listed = fixture.client().list_partitions({}, SmFixture::deadline_in());
    return listed && std::none_of(listed->items.begin(), listed->items.end(), [](const auto& one) {
             return one.spec.name == "red" && one.state != fabric::PartitionState::ready;
           });
  });
}

void make(const Change& change, SmFixture& fixture) {
  REQUIRE(change.make(fixture) == change.answer);
  until_swept(fixture);
}

// Every acknowledged change is there as soon as it serves.
void check_acknowledged(SmFixture& fixture, const ServiceView& before) {
  const ServiceView now = read_service(fixture);
  for (const fabric::Binding& binding : before.bindings) {
    if (binding.guid == guid_of(kMoved)) continue;
    const fabric::Binding* const still = now.find(binding.attachment);
    REQUIRE(still != nullptr);
    CHECK(still->desired == binding.desired);
  }
  REQUIRE(now.find("blue") != nullptr);
  CHECK(now.find("blue")->spec == before.find("blue")->spec);
}

// False: it was done before it came to that step.
bool try_step(StepFixture& fixture, const Change& change, int64_t step, bool torn,
              const std::function<void()>& check) {
  const ServiceView before = read_service(fixture);
  fixture.stepper.arm(step, torn);
  const std::string answer = change.make(fixture);
  if (!fixture.stepper.ended()) {
    fixture.stepper.disarm();
    CHECK(answer == change.answer);
    until_swept_or_ended(fixture);
    if (!fixture.stepper.ended()) return false;
  }
  INFO(change.name << " killed at step " << step << (torn ? ", torn: " : ": ")
                   << fixture.stepper.last());
  check_kept(fixture);
  fixture.restart();
  check_acknowledged(fixture, before);
  check_kept(fixture);
  check_verified(fixture);
  if (answer == change.answer) CHECK(change.is_so(read_service(fixture)));
  CHECK(change.make(fixture) == change.answer);
  until_swept(fixture);
  fixture.until([&] { return fixture.all_verified(); });
  check_tables(fixture);
  check();
  return true;
}

// From what it begins to what it begins.
void unmake(const Change& change, SmFixture& fixture) {
  (void)change.unmake(fixture);
  until_swept(fixture);
}

size_t kill_in(StepFixture& fixture, const Change& change, std::mt19937& random,
               const std::function<void()>& check) {
  fixture.stepper.arm(int64_t{1} << 40);
  make(change, fixture);
  const int64_t steps = fixture.stepper.disarm();
  size_t killed = 0;
  for (const bool torn : {false, true}) {
    for (const int64_t step : some_of(steps, steps_each(), random)) {
      unmake(change, fixture);
      killed += try_step(fixture, change, step, torn, check) ? 1 : 0;
    }
  }
  MESSAGE(change.name << ": " << steps << " steps, killed at " << killed);
  return killed;
}

}  // namespace

void kill_in_changes(StepFixture& fixture, const std::function<void()>& check) {
  fixture.start();
  fixture.create_partition("blue");
  REQUIRE(fixture.bind(kKept, "blue") == "verified");
  std::mt19937 random = random_of("changes");
  size_t killed = 0;
  for (const Change& change : changes()) {
    CAPTURE(change.name);
    killed += kill_in(fixture, change, random, check);
    check_tables(fixture);
  }
  CHECK(killed > 0);
}

}  // namespace ibpod
