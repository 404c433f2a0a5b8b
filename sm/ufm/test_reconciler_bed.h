// A Reconciler with a model of a UFM and a clock of its own, and the judge of what it did there.
#pragma once

#include "lib/base/join.h"
#include "sm/ufm/reconciler.h"
#include "sm/ufm/test_fake_ufm.h"
#include "tests/support/temp_folder.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm::test {

using fake_ufm::FaultKind;
using fake_ufm::Operation;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

using Members = std::map<ib::Guid, MemberValues>;
using Desire = std::map<ib::PKey, Members>;

inline constexpr MemberValues kFull{ib::Membership::full}, kLimited{ib::Membership::limited},
    kFirst{ib::Membership::full, true};
inline constexpr ib::PKey kLeast{0x10}, kMost{0x2f}, kBlue{0x10}, kRed{0x11}, kTheirs{0x5};
inline constexpr ib::Guid kA{0xa}, kB{0xb}, kC{0xc}, kForeign{0xf0};

inline bool is_foreign(ib::Guid guid) { return guid.value() / 0x10 == 0xf; }

inline fabric::PartitionDefinition definition_of(ib::PKey pkey, const Members& members) {
  fabric::PartitionDefinition definition;
  definition.name = "p" + std::to_string(pkey.value());
  definition.pkey = pkey;
  definition.ipoib = true;
  for (const auto& [guid, values] : members) definition.index0 |= values.index0;
  for (const bool skips : {false, true})
    for (const auto& [guid, values] : members)
      if ((definition.index0 && !values.index0) == skips)
        definition.members.push_back({guid,
                                      values.membership == ib::Membership::full
                                          ? fabric::Membership::full
                                          : fabric::Membership::limited,
                                      skips});
  return definition;
}

inline std::vector<fabric::PartitionDefinition> definitions_of(const Desire& desire) {
  std::vector<fabric::PartitionDefinition> definitions{fabric::default_definition()};
  for (const auto& [pkey, members] : desire) definitions.push_back(definition_of(pkey, members));
  return definitions;
}

struct Bed {
  Bed() {
    settings.folder = folder.path() / "ufm";
    ufm.set_partitions({{kTheirs, {"storage", true, {}, {{kA, {}}, {kForeign, {}}}}}});
    start();
  }

  // Starts a process after the end of the last one.
  void start() {
    reconciler.reset();
    reconciler = std::make_unique<Reconciler>(
        Reconciler::Deps{api, WrittenMembers::open(settings.folder).value(), [] { return 0.5; }},
        settings);
    if (version > 0) reconciler->want(version, definitions_of(desire), now);
  }
  void want(Desire next) {
    desire = std::move(next);
    reconciler->want(++version, definitions_of(desire), now);
  }

  // One call at most, which takes ten milliseconds.
  bool tick() {
    const Reconciler::Time begun = now;
    const bool more = reconciler->tick(begun);
    now += milliseconds(10);
    if (!more && version > 0) CHECK_MESSAGE(reconciler->alarm(begun), "it is woken again");
    return more;
  }
  // All that is due now.
  void run() {
    int calls = 0;
    for (; tick(); ++calls)
      if (calls > 5000) FAIL("it does not come to an end");
  }
  // All that is due within this time.
  void pass(Duration time) {
    const Reconciler::Time end = now + time;
    run();
    for (auto alarm = reconciler->alarm(now); alarm && *alarm <= end;
         alarm = reconciler->alarm(now)) {
      now = std::max(now, *alarm);
      run();
    }
    now = std::max(now, end);
    run();
  }
  // As many minutes as it takes until all is as desired, at most.
  void settle(int most) {
    for (int n = 0; n < most; ++n) {
      pass(minutes(1));
      if (status().swept == version && status().health == engine::Health::serving &&
          faults().empty())
        return;
    }
  }
  void reach(Desire next) {
    want(std::move(next));
    run();
    REQUIRE(status().placed == version);
  }

  engine::EngineStatus status() const { return reconciler->status(now); }
  UfmCounts counts() const { return reconciler->counts(); }
  // "0a not_added": the faults, without their texts.
  std::string faults() const {
    return join(reconciler->states().port_faults(), " ", [](const engine::PortFault& fault) {
      const bool added = fault.kind == engine::PortFault::Kind::not_added;
      return fault.port.text().substr(21) + (added ? " not_added" : " not_removed");
    });
  }
  std::string fault_text() const {
    const auto faults = reconciler->states().port_faults();
    return faults.empty() ? "" : faults.front().text;
  }

  // "foreign_member 1 widened 2"
  std::string findings() const {
    using Kind = engine::EngineFinding::Kind;
    const std::map<Kind, std::string> names{{Kind::foreign_member, "foreign_member"},
                                            {Kind::unwritten_pkey, "unwritten_pkey"},
                                            {Kind::other_ipoib, "other_ipoib"},
                                            {Kind::widened, "widened"}};
    std::string text;
    for (const engine::EngineFinding& one : status().findings) {
      CHECK_FALSE(one.remedy.empty());
      add_item(text, " ", names.at(one.kind) + " " + std::to_string(one.count));
    }
    return text;
  }

  // The members of a partition in UFM.
  Members members(ib::PKey pkey) const {
    Members members;
    const fake_ufm::Partitions partitions = ufm.partitions();
    if (const auto found = partitions.find(pkey); found != partitions.end())
      for (const auto& [guid, member] : found->second.members)
        members[guid] = {member.membership, member.index0};
    return members;
  }
  // Those of our range, without partitions that have no members.
  Desire in_ufm() const {
    Desire all;
    for (const auto& [pkey, partition] : ufm.partitions())
      if (pkey >= kLeast && pkey <= kMost && !partition.members.empty()) all[pkey] = members(pkey);
    return all;
  }
  Desire desired() const {
    Desire with_members = desire;
    std::erase_if(with_members, [](const auto& entry) { return entry.second.empty(); });
    return with_members;
  }
  // The record on disk, and `leaving` if so.
  Desire recorded(bool leaving = false) const {
    Desire all;
    const WrittenMembers record = WrittenMembers::open(settings.folder).value();
    for (const auto& [pkey, partition] : record.all())
      for (const auto& [guid, member] : partition)
        if (member.leaving == leaving) all[pkey][guid] = member.values;
    return all;
  }
  size_t calls(Operation operation) const {
    return fake_ufm::calls_of(ufm.log(), kOurs, operation).size();
  }

  // Another administrator.
  void admin(Operation operation, ib::PKey pkey, std::vector<ib::Guid> guids = {},
             ib::Membership membership = ib::Membership::full) {
    fake_ufm::Call call{.caller = kAdmin, .operation = operation, .pkey = pkey};
    call.guids = std::move(guids);
    call.membership = membership;
    (void)ufm.call(call);  // what came of it is in the model
  }
  void inject(FaultKind kind, std::set<Operation> operations, int status = 500, int times = 1) {
    ufm.inject({.kind = kind,
                .status = status,
                .text = "no",
                .caller = kOurs,
                .operations = std::move(operations),
                .times = times});
  }

  // True of every moment: nothing of others was changed, and each call is one of ours.
  void check_innocent() const {
    const auto log = ufm.log();
    CHECK(fake_ufm::writes_outside(log, kOurs, kLeast, kMost).empty());
    for (const fake_ufm::LogEntry& entry : log) {
      const fake_ufm::Call& call = entry.call;
      if (call.caller != kOurs) continue;
      const bool is_ours = call.operation == Operation::list || call.operation == Operation::read ||
                           call.operation == Operation::post ||
                           call.operation == Operation::add_empty ||
                           call.operation == Operation::remove_guids;
      CHECK_MESSAGE(is_ours, fake_ufm::text(entry));
      for (const ib::Guid guid : call.guids)
        CHECK_MESSAGE((!is_foreign(guid) || settings.foreign_members == ForeignMembers::remove),
                      fake_ufm::text(entry));
      CHECK(call.guids.size() <= kMostGuids);
    }
  }
  // UFM and our record are as desired.
  void check_converged() const {
    check_innocent();
    CHECK(in_ufm() == desired());
    CHECK(recorded() == desired());
    CHECK(status().placed == version);
    CHECK(status().swept == version);
    CHECK(status().health == engine::Health::serving);
    CHECK(faults().empty());
  }

  fake_ufm::UfmModel ufm;
  FakeUfm api{ufm};
  TempFolder folder{"/dev/shm"};  // many files are flushed
  EngineSettings settings{.pkeys = pool::PKeyPool::make({{kLeast.value(), kMost.value()}}).value(),
                          .folder = {}};
  Reconciler::Time now{std::chrono::hours(1)};
  uint64_t version = 0;
  Desire desire;
  std::unique_ptr<Reconciler> reconciler;
};

}  // namespace ibpod::sm::ufm::test
