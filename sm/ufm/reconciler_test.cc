// The course of changes, if UFM does as it is asked.
#include "sm/ufm/reconciler.h"

#include "sm/ufm/test_reconciler_bed.h"

namespace ibpod::sm::ufm::test {
namespace {

using engine::Health;

TEST_CASE_FIXTURE(Bed, "no call is made before anything is desired: no member would be ours") {
  CHECK_FALSE(tick());
  CHECK_FALSE(reconciler->alarm(now));
  CHECK(ufm.log().empty());
  CHECK(status() == engine::EngineStatus{});
}

TEST_CASE_FIXTURE(Bed,
                  "a change is read back, is in place then, and swept after the time of effect") {
  want({{kBlue, {{kA, kFull}, {kB, kLimited}, {kC, kFirst}}}});
  CHECK(tick());
  CHECK(status().health == Health::serving);
  for (int posts = 0; posts < 3; ++posts) {
    CHECK(status().placed == 0);
    CHECK(tick());
  }
  CHECK(in_ufm() == desired());
  CHECK_MESSAGE(status().placed == 0, "UFM has not shown it yet");
  CHECK(tick());
  CHECK_FALSE(tick());
  CHECK(status().placed == 1);
  CHECK(calls(Operation::list) == 1);
  CHECK(calls(Operation::post) == 3);
  CHECK(calls(Operation::read) == 1);
  CHECK(ufm.partitions().at(kBlue).ip_over_ib);
  CHECK(status().swept == 0);
  pass(seconds(59));
  CHECK(status().swept == 0);
  pass(seconds(1));
  check_converged();
  CHECK(counts().additions == 3);
  CHECK(counts().reconciled == 1);
  CHECK(counts().time_to_accepted > Duration(0));
}

TEST_CASE_FIXTURE(Bed, "if UFM has all of it already, nothing is changed") {
  reach({{kBlue, {{kA, kFull}}}});
  ufm.clear_log();
  start();
  run();
  CHECK(status().placed == 1);
  CHECK(calls(Operation::list) == 1);
  CHECK(ufm.log().size() == 1);
}

TEST_CASE_FIXTURE(Bed, "removals, changes and partitions that end") {
  reach({{kBlue, {{kA, kFull}, {kB, kFull}}}, {kRed, {{kA, kLimited}}}});
  reach({{kBlue, {{kB, kLimited}, {kC, kFull}}}});
  CHECK(in_ufm() == desired());
  CHECK(recorded() == desired());
  CHECK(recorded(true) == Desire{{kBlue, {{kA, kFull}}}, {kRed, {{kA, kLimited}}}});
  reach({{kBlue, {}}});
  CHECK(in_ufm().empty());
  CHECK(counts().removals == 4);
  // UFM may bring them back for a while.
  pass(minutes(9));
  CHECK_FALSE(recorded(true).empty());
  pass(minutes(3));
  CHECK(recorded(true).empty());
  CHECK(list_folder(settings.folder).value().empty());
  check_converged();
}

TEST_CASE_FIXTURE(Bed, "a member is narrowed by one call, without being removed") {
  reach({{kBlue, {{kA, kFull}, {kB, kFull}}}});
  reach({{kBlue, {{kA, kLimited}, {kB, kFirst}}}});
  CHECK(in_ufm() == desired());
  CHECK(calls(Operation::remove_guids) == 0);
  CHECK(calls(Operation::post) == 3);
  CHECK(counts().widened == 0);
}

TEST_CASE_FIXTURE(Bed, "what UFM has shown before the last call counts for nothing") {
  reach({{kBlue, {{kA, kFull}, {kB, kFull}}}});
  want({{kBlue, {{kB, kFull}}}});
  CHECK(tick());
  CHECK(members(kBlue) == Members{{kB, kFull}});
  want({{kBlue, {{kA, kFull}, {kB, kFull}}}});
  CHECK(tick());
  CHECK_MESSAGE(status().placed == 1, "it was there, and has been removed");
  run();
  CHECK(status().placed == 3);
  CHECK(in_ufm() == desired());
}

TEST_CASE_FIXTURE(Bed, "what comes while a call runs goes together into the next one") {
  reach({{kBlue, {}}});
  Members members;
  uint64_t ports = 0;
  int ticks = 0;
  for (; ticks < 100; ++ticks) {
    for (int n = 0; n < 5; ++n) {
      const ib::Guid port(0x100 + ports++ % 0x80 * 0x100);
      if (members.erase(port) == 0) members[port] = kFull;
      want({{kBlue, members}});
    }
    CHECK(tick());
    if (ticks > 4) CHECK_MESSAGE(status().placed + 30 >= version, "it keeps up with the flow");
  }
  run();
  CHECK(in_ufm() == desired());
  CHECK(calls(Operation::post) + calls(Operation::remove_guids) <= 80);
  CHECK(counts().reconciled > 30);
}

TEST_CASE_FIXTURE(Bed, "under a flow of changes of many partitions, each comes into place") {
  Desire next;
  uint64_t placed = 0;
  for (uint64_t n = 0; n < 400; ++n) {
    next[ib::PKey(static_cast<uint16_t>(kLeast.value() + n % 32))][ib::Guid(0x100 * (n + 1))] =
        kFull;
    want(next);
    CHECK(tick());
    if (n > 80) CHECK(status().placed + 80 >= version);
    placed = std::max(placed, status().placed);
  }
  CHECK(placed > 300);
  run();
  pass(minutes(1));
  check_converged();
  CHECK_MESSAGE(calls(Operation::list) < 60, "many partitions are read with one call");
}

TEST_CASE_FIXTURE(Bed,
                  "all is read again at intervals, and what another user took away is mended") {
  reach({{kBlue, {{kA, kFull}, {kB, kFull}}}});
  pass(minutes(2));
  CHECK(calls(Operation::list) == 3);
  admin(Operation::remove_guids, kBlue, {kA});
  pass(minutes(1));
  CHECK(in_ufm() == desired());
  CHECK(status().losses == 1);
  SUBCASE("of all members, with the partition") { admin(Operation::delete_partition, kBlue); }
  SUBCASE("of the membership") { admin(Operation::post, kBlue, {kB}, ib::Membership::limited); }
  pass(minutes(1));
  CHECK(status().losses == 2);
  pass(minutes(1));
  check_converged();
}

TEST_CASE_FIXTURE(Bed,
                  "a partition of UFM without record is taken over if all members are desired") {
  admin(Operation::post, kBlue, {kA, kB}, ib::Membership::full);
  admin(Operation::add_empty, kRed);
  reach({{kBlue, {{kA, kFull}, {kB, kLimited}, {kC, kFull}}}, {kRed, {{kA, kFull}}}});
  pass(minutes(1));
  check_converged();
  CHECK(counts().widened == 0);
  CHECK(status().trouble.empty());
  reach({});
  CHECK_MESSAGE(in_ufm().empty(), "they are ours now");
}

TEST_CASE_FIXTURE(Bed, "another user's partition is never changed, and its members have a fault") {
  admin(Operation::post, kBlue, {kA, kForeign});
  settings.foreign_members = ForeignMembers::remove;
  start();
  want({{kBlue, {{kA, kLimited}, {kB, kFull}}}, {kRed, {{kA, kFull}}}});
  run();
  CHECK(members(kBlue) == Members{{kA, kFull}, {kForeign, kFull}});
  CHECK(members(kRed) == Members{{kA, kFull}});
  CHECK_MESSAGE(status().placed == 1, "it keeps nothing else back");
  CHECK(status().health == Health::serving);
  CHECK(faults() == "0a not_added 0b not_added");
  CHECK(fault_text() ==
        "P_Key 0x0010 is in use in UFM with 1 port that ibpod-sm did not put there "
        "(00:00:00:00:00:00:00:f0), so ibpod-sm adds no port to it; remove it in UFM, or choose "
        "another P_Key");
  CHECK(fault_text().starts_with(status().trouble));
  CHECK(findings() == "unwritten_pkey 1");
  CHECK(counts().foreign == 0);
  CHECK(recorded() == Desire{{kRed, {{kA, kFull}}}});
  CHECK(reconciler->states().taken().empty());
  want({{kRed, {{kA, kFull}}}});
  run();
  CHECK(reconciler->states().taken() ==
        std::map<ib::PKey, std::vector<ib::Guid>>{{kBlue, {kA, kForeign}}});
  CHECK(faults().empty());
  want({{kBlue, {{kA, kLimited}, {kB, kFull}}}, {kRed, {{kA, kFull}}}});
  admin(Operation::remove_guids, kBlue, {kForeign});
  pass(minutes(3));
  check_converged();
}

TEST_CASE_FIXTURE(Bed, "foreign members of our partitions are reported, or removed if told so") {
  reach({{kBlue, {{kA, kFull}}}});
  admin(Operation::post, kBlue, {kForeign});
  pass(minutes(2));
  CHECK(members(kBlue) == Members{{kA, kFull}, {kForeign, kFull}});
  CHECK(counts().foreign == 1);
  CHECK(status().trouble ==
        "P_Key 0x0010 has members in UFM that ibpod-sm did not put there "
        "(00:00:00:00:00:00:00:f0): they reach the pods of this partition");
  CHECK(findings() == "foreign_member 1");
  CHECK(status().placed == version);
  SUBCASE("told so") {
    settings.foreign_members = ForeignMembers::remove;
    start();
    run();
    CHECK(members(kBlue) == Members{{kA, kFull}});
  }
  SUBCASE("our members go, and it stays") {
    reach({});
    CHECK(members(kBlue) == Members{{kForeign, kFull}});
    pass(minutes(12));
    CHECK_MESSAGE(findings() == "unwritten_pkey 1", "the partition is another user's now");
  }
}

TEST_CASE_FIXTURE(Bed, "index 0 goes from one partition to another through UFM that allows one") {
  ufm.set_switches({.index0_once = true});
  // The last call before a change decides which partition comes first: both do once.
  for (const ib::PKey last : {kBlue, kRed})
    for (const ib::PKey gains : {kBlue, kRed}) {
      const ib::PKey loses = gains == kBlue ? kRed : kBlue;
      reach({{gains, {{kA, kFull}}}, {loses, {{kA, kFirst}}}});
      Desire next = desire;
      next[last][kB] = kFull;
      reach(next);
      std::swap(next[gains][kA], next[loses][kA]);
      reach(next);
      CHECK(in_ufm() == desired());
      next[gains].erase(kA);
      next[loses][kA] = kFirst;
      reach(next);
      CHECK(in_ufm() == desired());
    }
  CHECK(counts().refused == 0);
}

TEST_CASE_FIXTURE(Bed,
                  "members of a P_Key that is in our ranges no more are neither changed nor free") {
  reach({{kBlue, {{kA, kFull}}}, {kRed, {{kB, kFull}}}});
  settings.pkeys = pool::PKeyPool::make({{kRed.value(), kMost.value()}}).value();
  desire.erase(kBlue);
  ufm.clear_log();
  start();
  pass(minutes(2));
  CHECK(members(kBlue) == Members{{kA, kFull}});
  CHECK(calls(Operation::remove_guids) == 0);
  CHECK(status().placed == version);
  CHECK(faults() == "0a not_removed");
  CHECK(status().trouble.find("P_Key 0x0010 has members in UFM") == 0);
  CHECK(findings() == "unwritten_pkey 1");
  admin(Operation::remove_guids, kBlue, {kA});
  pass(minutes(15));
  CHECK(faults().empty());
  CHECK(list_folder(settings.folder).value() == std::vector<std::string>{"0x0011.json"});
}

TEST_CASE_FIXTURE(Bed, "definitions that UFM cannot have change nothing") {
  reach({{kBlue, {{kA, kFull}}}});
  desire = {{ib::PKey(0x100), {{kA, kFull}}}};
  reconciler->want(++version, definitions_of(desire), now);
  run();
  CHECK(status().health == Health::refused);
  CHECK(status().trouble.find("partition 0x0100") == 0);
  CHECK(in_ufm() == Desire{{kBlue, {{kA, kFull}}}});
  reach({{kRed, {{kA, kFull}}}});
  CHECK(status().health == Health::serving);
}

TEST_CASE_FIXTURE(Bed, "without its record on disk no change is made") {
  const Path file = folder.write("ufm/0x0010.json", "");
  folder.block(file);
  want({{kBlue, {{kA, kFull}}}});
  run();
  CHECK(in_ufm().empty());
  CHECK(status().health == Health::refused);
  CHECK(status().trouble.find("cannot record the change before it is made: ") == 0);
  CHECK(status().placed == 0);
  std::filesystem::remove_all(file);
  pass(seconds(6));
  CHECK(in_ufm() == desired());
  CHECK(status().health == Health::serving);
}

TEST_CASE_FIXTURE(Bed, "a partition that UFM has without IP over IB is reported") {
  admin(Operation::add_empty, kBlue);
  fake_ufm::Partitions partitions = ufm.partitions();
  partitions.at(kBlue).ip_over_ib = false;
  ufm.set_partitions(partitions);
  reach({{kBlue, {{kA, kFull}}}});
  CHECK(status().trouble ==
        "UFM has P_Key 0x0010 with ip_over_ib false, and true is desired, which it takes only for "
        "a new partition");
  CHECK(findings() == "other_ipoib 1");
}

}  // namespace
}  // namespace ibpod::sm::ufm::test
