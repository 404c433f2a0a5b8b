// A P_Key that another user takes while ibpod-sm is about to make it: it is theirs, and no port of
// ours stays in it.
#include "sm/ufm/reconciler.h"
#include "sm/ufm/test_reconciler_bed.h"

namespace ibpod::sm::ufm::test {
namespace {

using engine::Health;

// The end of the process: thrown through the code, so that nothing after it happens.
struct Killed {};

struct TakenBed : Bed {
  // Before the first call of this operation the other user makes kBlue.
  void take_before(Operation operation, const std::vector<ib::Guid>& guids = {kForeign}) {
    api.before = [this, operation, guids] {
      if (api.next == operation && !taken) {
        admin(Operation::add_empty, kBlue);
        admin(Operation::post, kBlue, guids);
      }
      taken = taken || api.next == operation;
    };
  }
  void kill_in(std::function<void()>& place, Operation operation) {
    place = [this, operation, before = place] {
      if (before) before();
      if (api.next == operation && !std::exchange(killed, true)) throw Killed();
    };
  }
  void run_until_killed() {
    try {
      run();
    } catch (const Killed&) {
      start();
    }
    REQUIRE(killed);
  }
  // Theirs alone, with a fault of each port and of the partition.
  void check_theirs(const Members& theirs = {{kForeign, kFull}}) {
    CHECK(members(kBlue) == theirs);
    CHECK(members(kRed) == Members{{kA, kFull}});
    CHECK_MESSAGE(status().placed == version, "it keeps nothing else back");
    CHECK(status().health == Health::serving);
    CHECK(faults() == "0a not_added 0b not_added");
    CHECK(findings() == "unwritten_pkey 1");
    CHECK(recorded() == Desire{{kRed, {{kA, kFull}}}});
    CHECK(counts().foreign == 0);
    check_innocent();
  }
  const Desire both{{kBlue, {{kA, kLimited}, {kB, kFull}}}, {kRed, {{kA, kFull}}}};
  bool taken = false, killed = false;
};

TEST_CASE_FIXTURE(TakenBed, "taken between our reading and our call: our ports are taken out") {
  take_before(Operation::post);
  SUBCASE("foreign members are reported") {}
  SUBCASE("foreign members are removed, but not those of another user's P_Key") {
    settings.foreign_members = ForeignMembers::remove;
    start();
  }
  SUBCASE("their P_Key has a port that we want, too") {
    take_before(Operation::post, {kA, kForeign});
  }
  want(both);
  run();
  REQUIRE(taken);
  check_theirs();
  CHECK(fault_text() ==
        "P_Key 0x0010 is in use in UFM with 1 port that ibpod-sm did not put there "
        "(00:00:00:00:00:00:00:f0), so ibpod-sm adds no port to it; remove it in UFM, or choose "
        "another P_Key");
  // Nothing goes in later, either.
  Desire more = both;
  more[kBlue][kC] = kFull;
  want(more);
  pass(minutes(20));
  CHECK(members(kBlue) == Members{{kForeign, kFull}});
  start();
  pass(minutes(20));
  CHECK(members(kBlue) == Members{{kForeign, kFull}});
  admin(Operation::remove_guids, kBlue, {kForeign});
  pass(minutes(3));
  check_converged();
}

TEST_CASE_FIXTURE(TakenBed, "taken while no ibpod-sm runs, whose last act was its record") {
  SUBCASE("before its call") {
    kill_in(api.before, Operation::post);
    want(both);
    try {
      run();
    } catch (const Killed&) {
      CHECK(members(kBlue).empty());
      CHECK_FALSE(recorded().empty());
      admin(Operation::post, kBlue, {kForeign});
      start();
    }
  }
  SUBCASE("after its call, which went into their P_Key") {
    take_before(Operation::post);
    kill_in(api.after, Operation::post);
    want(both);
    run_until_killed();
    CHECK(members(kBlue).size() == 2);
  }
  REQUIRE(killed);
  run();
  check_theirs();
  admin(Operation::delete_partition, kBlue);
  pass(minutes(20));
  check_converged();
}

TEST_CASE_FIXTURE(TakenBed,
                  "taken before UFM made it for us: the call is busy, and no port enters") {
  ufm.set_switches({.post_creates = false});
  take_before(Operation::add_empty);
  want(both);
  pass(minutes(1));
  REQUIRE(taken);
  check_theirs();
  for (const fake_ufm::LogEntry& entry : fake_ufm::calls_of(ufm.log(), kOurs, Operation::post))
    CHECK((entry.call.pkey != kBlue || entry.status == 404));
}

TEST_CASE_FIXTURE(TakenBed, "taken without an answer to our call: it may have had its effect") {
  take_before(Operation::post);
  SUBCASE("it had") { inject(FaultKind::lose_answer, {Operation::post}); }
  SUBCASE("it had not") { inject(FaultKind::hang, {Operation::post}); }
  SUBCASE("UFM fails to remove them at first") {
    inject(FaultKind::ignore, {Operation::remove_guids}, 200, 3);
  }
  want(both);
  pass(minutes(2));
  REQUIRE(taken);
  check_theirs();
}

TEST_CASE_FIXTURE(TakenBed, "a member that UFM does not take out of their P_Key is not free") {
  take_before(Operation::post);
  inject(FaultKind::ignore, {Operation::remove_guids}, 200, 0);
  want({{kBlue, {{kA, kFull}}}});
  run();
  const size_t calls_before = calls(Operation::remove_guids);
  CHECK(calls_before < 5);
  CHECK(faults() == "0a not_added 0a not_removed");
  CHECK(status().placed == version);
  pass(minutes(2));
  CHECK_MESSAGE(calls(Operation::remove_guids) < 20, "with pauses");
}

TEST_CASE_FIXTURE(TakenBed, "a P_Key that was ours once is ours again only if it is made again") {
  reach({{kBlue, {{kA, kFull}}}, {kRed, {{kA, kFull}}}});
  reach({{kRed, {{kA, kFull}}}});
  CHECK_FALSE(ufm.partitions().contains(kBlue));
  take_before(Operation::post);
  want(both);
  run();
  REQUIRE(taken);
  check_theirs();
}

TEST_CASE_FIXTURE(TakenBed, "taken between the call that ends it and the next reading") {
  reach({{kBlue, {{kA, kFull}, {kB, kFull}}}, {kRed, {{kA, kFull}}}});
  inject(FaultKind::refuse, {Operation::post}, 400, 0);
  admin(Operation::remove_guids, kBlue, {kB});
  pass(minutes(1));
  CHECK(faults() == "0b not_added");
  api.after = [&] {
    if (api.next == Operation::remove_guids && !std::exchange(taken, true))
      admin(Operation::post, kBlue, {kForeign});
  };
  want({{kBlue, {{kB, kFull}}}, {kRed, {{kA, kFull}}}});
  run();
  REQUIRE(taken);
  ufm.clear_faults();
  pass(minutes(20));
  CHECK(members(kBlue) == Members{{kForeign, kFull}});
  CHECK(faults() == "0b not_added");
}

TEST_CASE_FIXTURE(TakenBed, "one reading without a partition of ours makes it no other user's") {
  const Desire one{{kBlue, {{kA, kFull}}}, {kRed, {{kA, kFull}}}};
  reach(one);
  admin(Operation::post, kBlue, {kForeign});
  pass(minutes(1));
  CHECK(findings() == "foreign_member 1");
  // A UFM that has just started.
  const fake_ufm::Partitions all = ufm.partitions();
  fake_ufm::Partitions shown;
  SUBCASE("none at all") {}
  SUBCASE("it has no members yet") { shown[kBlue] = {}; }
  bool is_over = false;
  api.before = [&] {
    if (api.next == Operation::list && !is_over) ufm.set_partitions(shown);
  };
  api.after = [&] {
    if (api.next == Operation::list && !std::exchange(is_over, true)) ufm.set_partitions(all);
  };
  pass(minutes(5));
  REQUIRE(is_over);
  CHECK(calls(Operation::remove_guids) == 0);
  CHECK(members(kBlue) == Members{{kA, kFull}, {kForeign, kFull}});
  CHECK(faults().empty());
  CHECK(findings() == "foreign_member 1");
  // A partition that was not desired meanwhile is theirs.
  reach({{kRed, {{kA, kFull}}}});
  want(one);
  run();
  CHECK(members(kBlue) == Members{{kForeign, kFull}});
  CHECK(faults() == "0a not_added");
}

TEST_CASE_FIXTURE(TakenBed, "a P_Key that was ours until a reading has not shown it any more") {
  SUBCASE("our last member there was removed while another one could not be added") {
    reach({{kBlue, {{kA, kFull}, {kB, kFull}}}, {kRed, {{kA, kFull}}}});
    inject(FaultKind::refuse, {Operation::post}, 400, 0);
    admin(Operation::remove_guids, kBlue, {kB});
    pass(minutes(1));
    CHECK(faults() == "0b not_added");
    want({{kBlue, {{kB, kFull}}}, {kRed, {{kA, kFull}}}});
    run();
  }
  bool ends = false;
  SUBCASE("it was lost, and could not be made again") {
    SUBCASE("by the same process") {}
    SUBCASE("by this process, and by the next one") { ends = true; }
    reach({{kBlue, {{kB, kFull}}}, {kRed, {{kA, kFull}}}});
    inject(FaultKind::refuse, {Operation::post}, 400, 0);
    admin(Operation::delete_partition, kBlue);
    pass(minutes(1));
  }
  REQUIRE(members(kBlue).empty());
  if (ends) start();
  admin(Operation::post, kBlue, {kForeign});
  ufm.clear_faults();
  pass(minutes(20));
  CHECK(members(kBlue) == Members{{kForeign, kFull}});
  CHECK(faults() == "0b not_added");
  CHECK(findings() == "unwritten_pkey 1");
  admin(Operation::remove_guids, kBlue, {kForeign});
  pass(minutes(3));
  check_converged();
}

TEST_CASE_FIXTURE(TakenBed,
                  "taken while its only member is removed to be added with other values") {
  reach({{kBlue, {{kA, kFull}}}, {kRed, {{kA, kFull}}}});
  api.keeps_values = true;
  bool removed = false;
  api.before = [&] {
    if (api.next == Operation::post && removed && !std::exchange(taken, true))
      admin(Operation::post, kBlue, {kForeign});
    removed = removed || api.next == Operation::remove_guids;
  };
  Desire next = both;
  next[kBlue].erase(kB);
  want(next);
  pass(minutes(2));
  REQUIRE(taken);
  CHECK(members(kBlue) == Members{{kForeign, kFull}});
  CHECK(faults() == "0a not_added");
}

TEST_CASE_FIXTURE(TakenBed, "a foreign member that comes after a reading has shown ours") {
  reach(both);
  CHECK(faults().empty());
  admin(Operation::post, kBlue, {kForeign});
  Desire more = both;
  more[kBlue][kC] = kFull;
  reach(more);
  start();
  pass(minutes(2));
  CHECK(members(kBlue).size() == 4);
  CHECK(findings() == "foreign_member 1");
  // The members that came beside the foreign one keep the partition ours.
  more[kBlue].erase(kA);
  more[kBlue].erase(kB);
  reach(more);
  start();
  pass(minutes(2));
  CHECK(members(kBlue) == Members{{kC, kFull}, {kForeign, kFull}});
  CHECK(faults().empty());
  CHECK(findings() == "foreign_member 1");
}

TEST_CASE_FIXTURE(TakenBed, "a UFM whose POST makes no P_Key: it is made, with members, and kept") {
  ufm.set_switches({.post_creates = false});
  reach(both);
  pass(minutes(1));
  check_converged();
  CHECK(calls(Operation::add_empty) == 2);
  reach({});
  CHECK(in_ufm().empty());
  pass(minutes(13));
  reach(both);
  pass(minutes(1));
  check_converged();
}

}  // namespace
}  // namespace ibpod::sm::ufm::test
