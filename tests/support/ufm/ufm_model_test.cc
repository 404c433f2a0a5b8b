#include "tests/support/ufm/ufm_model.h"

#include <functional>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::fake_ufm {
namespace {

using ib::Guid;
using ib::Membership;
using ib::PKey;

constexpr PKey kPKey{0x5};
constexpr Guid kA{0xa}, kB{0xb}, kC{0xc};

Call post(std::vector<Guid> guids, std::optional<Membership> membership = {}, PKey pkey = kPKey) {
  return {.caller = "ibpod-sm",
          .operation = Operation::post,
          .pkey = pkey,
          .guids = std::move(guids),
          .membership = membership};
}

Call of(Operation operation, std::vector<Guid> guids = {}) {
  return {.caller = "ibpod-sm", .operation = operation, .pkey = kPKey, .guids = std::move(guids)};
}

std::map<Guid, Membership> members(const UfmModel& ufm, PKey pkey = kPKey) {
  std::map<Guid, Membership> found;
  const Partitions partitions = ufm.partitions();
  if (!partitions.contains(pkey)) return found;
  for (const auto& [guid, member] : partitions.at(pkey).members) found[guid] = member.membership;
  return found;
}

bool exists(const UfmModel& ufm, PKey pkey = kPKey) { return ufm.partitions().contains(pkey); }

TEST_CASE("POST gives all of its GUIDs one membership, whatever a list of memberships says") {
  UfmModel ufm;
  Call call = post({kA, kB});
  call.memberships = {Membership::limited, Membership::limited};
  CHECK(ufm.call(call).status == 200);
  CHECK(members(ufm) == std::map<Guid, Membership>{{kA, Membership::full}, {kB, Membership::full}});

  CHECK(ufm.call(post({kB}, Membership::limited)).status == 200);
  CHECK(members(ufm) ==
        std::map<Guid, Membership>{{kA, Membership::full}, {kB, Membership::limited}});

  ufm.set_switches({.post_honors_memberships = true});
  call.memberships = {Membership::limited, Membership::full};
  CHECK(ufm.call(call).status == 200);
  CHECK(members(ufm) ==
        std::map<Guid, Membership>{{kA, Membership::limited}, {kB, Membership::full}});
  call.memberships = {Membership::limited};
  CHECK(ufm.call(call).status == 400);
}

TEST_CASE("a call without flags has UFM's defaults: full, IP over IB, not at index 0") {
  UfmModel ufm;
  REQUIRE(ufm.call(post({kA})).ok());
  CHECK(ufm.partitions().at(kPKey) ==
        Partition{"api_pkey_0x5", true, {}, {{kA, {Membership::full, false}}}});
}

TEST_CASE("PUT replaces members and flags, so that of two writers one loses its change") {
  UfmModel ufm;
  REQUIRE(ufm.call(post({kA}, Membership::full)).ok());
  Call mine = of(Operation::put, {kA, kB});
  mine.memberships = {Membership::full, Membership::limited};
  Call theirs = of(Operation::put, {kA, kC});
  theirs.caller = "other";
  theirs.ip_over_ib = false;
  CHECK(ufm.call(mine).status == 200);
  CHECK(members(ufm).at(kB) == Membership::limited);
  CHECK(ufm.call(theirs).status == 200);
  CHECK(members(ufm) == std::map<Guid, Membership>{{kA, Membership::full}, {kC, Membership::full}});
  CHECK_FALSE(ufm.partitions().at(kPKey).ip_over_ib);

  mine.memberships.pop_back();
  CHECK(ufm.call(mine).status == 400);
  mine.memberships = {Membership::full, Membership::full};
  mine.membership = Membership::full;
  CHECK(ufm.call(mine).status == 400);
}

TEST_CASE("removals: of a stranger nothing happens, of the last member the partition goes") {
  UfmModel ufm;
  CHECK(ufm.call(of(Operation::remove_guids, {kA})).status == 404);
  REQUIRE(ufm.call(post({kA, kB})).ok());
  CHECK(ufm.call(of(Operation::remove_guids, {kC})).status == 200);
  CHECK(members(ufm).size() == 2);
  CHECK(ufm.call(of(Operation::remove_guids_action, {kA})).status == 200);
  CHECK(exists(ufm));
  CHECK(ufm.call(of(Operation::remove_guids, {kB})).status == 200);
  CHECK_FALSE(exists(ufm));

  ufm.set_switches({.removal_of_last_deletes = false});
  REQUIRE(ufm.call(post({kA})).ok());
  CHECK(ufm.call(of(Operation::remove_guids, {kA})).status == 200);
  CHECK(exists(ufm));
  CHECK(ufm.call(of(Operation::delete_partition)).status == 200);
  CHECK_FALSE(exists(ufm));
  CHECK(ufm.call(of(Operation::delete_partition)).status == 404);
}

TEST_CASE("a partition made empty stays until a removal empties it") {
  UfmModel ufm;
  CHECK(ufm.call(of(Operation::add_empty)).status == 200);
  CHECK(ufm.call(of(Operation::add_empty)).status == 409);
  CHECK(ufm.call(of(Operation::remove_guids, {kA})).status == 200);
  CHECK(exists(ufm));
  REQUIRE(ufm.call(post({kA})).ok());
  CHECK(ufm.call(of(Operation::remove_guids, {kA})).status == 200);
  CHECK_FALSE(exists(ufm));

  ufm.set_switches({.created_status = 201, .exists_status = 400});
  CHECK(ufm.call(of(Operation::add_empty)).status == 201);
  CHECK(ufm.call(of(Operation::add_empty)).status == 400);
}

TEST_CASE("the management partition is always there, and read only") {
  UfmModel ufm;
  for (const Operation operation :
       {Operation::post, Operation::put, Operation::add_empty, Operation::remove_guids,
        Operation::remove_guids_action, Operation::delete_partition, Operation::set_qos}) {
    Call call = of(operation, {kA});
    call.pkey = kManagement;
    CAPTURE(name(operation));
    CHECK(ufm.call(call).status == 400);
  }
  CHECK(ufm.partitions() == Partitions{{kManagement, Partition{"management"}}});
  CHECK(ufm.generation() == 0);
  ufm.set_partitions({});
  CHECK(exists(ufm, kManagement));
}

TEST_CASE("a P_Key or a GUID that none can have is refused") {
  UfmModel ufm;
  for (const uint16_t value : std::vector<uint16_t>{0x0000, 0x8000, 0x8005, 0xffff})
    CHECK(ufm.call(post({kA}, {}, PKey(value))).status == 400);
  CHECK(ufm.call(post({})).status == 400);
  CHECK(ufm.call(post({Guid(0)})).status == 400);
  CHECK(ufm.call(of(Operation::put)).status == 400);
  CHECK(ufm.partitions().size() == 1);
}

TEST_CASE(
    "a GUID of no known port: accepted, or the call refused, done to the half or not at all") {
  UfmModel ufm;
  ufm.set_known({kA, kB});
  CHECK(ufm.call(post({kA, kC})).status == 200);
  REQUIRE(ufm.call(of(Operation::delete_partition)).ok());

  ufm.set_switches({.accepts_unknown_guids = false});
  CHECK(ufm.call(post({kA, kC, kB})).status == 404);
  CHECK_FALSE(exists(ufm));
  CHECK(ufm.call(post({kA, kB})).status == 200);
  REQUIRE(ufm.call(of(Operation::delete_partition)).ok());

  ufm.set_switches({.accepts_unknown_guids = false, .atomic = false});
  CHECK(ufm.call(post({kA, kC, kB})).status == 404);
  CHECK(members(ufm) == std::map<Guid, Membership>{{kA, Membership::full}});
}

TEST_CASE("a missing P_Key: POST creates it or not, GET has 404 or nothing") {
  UfmModel ufm;
  CHECK(ufm.call(of(Operation::read)).status == 404);
  ufm.set_switches({.post_creates = false, .missing_is_404 = false});
  CHECK(ufm.call(post({kA})).status == 404);
  const Outcome read = ufm.call(of(Operation::read));
  CHECK(read.status == 200);
  CHECK(read.partitions.empty());
  REQUIRE(ufm.call(of(Operation::add_empty)).ok());
  CHECK(ufm.call(post({kA})).status == 200);
  CHECK(ufm.call(of(Operation::read)).partitions.at(kPKey).members.size() == 1);
}

TEST_CASE("index 0 of one GUID in two partitions is refused where UFM is strict") {
  UfmModel ufm;
  Call first = post({kA}), second = post({kA}, {}, PKey(0x6));
  first.index0 = second.index0 = true;
  CHECK(ufm.call(first).status == 200);
  CHECK(ufm.call(second).status == 200);
  ufm.set_switches({.index0_once = true});
  CHECK(ufm.call(second).status == 400);
  second.index0 = false;
  CHECK(ufm.call(second).status == 200);
  CHECK(ufm.call(first).status == 200);
}

TEST_CASE("each kind of fault: whether the call is done, and what the caller learns") {
  struct {
    FaultKind kind;
    size_t members;
    int status;
    Delivery delivery;
  } const cases[] = {
      {FaultKind::refuse, 0, 503, Delivery::whole},
      {FaultKind::html, 0, 503, Delivery::html},
      {FaultKind::half_done, 1, 503, Delivery::whole},
      {FaultKind::ignore, 0, 200, Delivery::whole},
      {FaultKind::lose_answer, 3, 200, Delivery::reset},
      {FaultKind::hang, 0, 200, Delivery::never},
      {FaultKind::hang_after, 3, 200, Delivery::never},
      {FaultKind::slow, 3, 200, Delivery::slow},
      {FaultKind::truncate, 3, 200, Delivery::truncated},
  };
  for (const auto& expected : cases) {
    CAPTURE(static_cast<int>(expected.kind));
    UfmModel ufm;
    ufm.inject({.kind = expected.kind, .status = 503});
    const Outcome outcome = ufm.call(post({kA, kB, kC}));
    CHECK(outcome.status == expected.status);
    CHECK(outcome.delivery == expected.delivery);
    CHECK(members(ufm).size() == expected.members);
    CHECK(ufm.log().back().changed == (expected.members > 0));
    CHECK(ufm.call(post({kA, kB, kC})).delivered());
    CHECK(members(ufm).size() == 3);
  }
}

TEST_CASE("a fault meets the calls that it names, as often as it says") {
  UfmModel ufm;
  ufm.inject({.caller = "ibpod-sm", .operations = {Operation::post}, .skip = 1, .times = 2});
  Call theirs = post({kA});
  theirs.caller = "other";
  CHECK(ufm.call(theirs).ok());
  CHECK(ufm.call(of(Operation::list)).ok());
  CHECK(ufm.call(post({kA})).ok());
  CHECK(ufm.call(post({kA})).status == 500);
  CHECK(ufm.call(theirs).ok());
  CHECK(ufm.call(post({kA})).status == 500);
  CHECK(ufm.call(post({kA})).ok());

  ufm.inject({.pkey = PKey(0x6), .times = 0});
  for (int i = 0; i < 3; ++i) CHECK(ufm.call(post({kA}, {}, PKey(0x6))).status == 500);
  CHECK(ufm.call(post({kA})).ok());
  ufm.clear_faults();
  CHECK(ufm.call(post({kA}, {}, PKey(0x6))).ok());
}

TEST_CASE("a failover loses the last changes, in the order in which they were made") {
  UfmModel ufm;
  REQUIRE(ufm.call(post({kA})).ok());
  REQUIRE(ufm.call(post({kB})).ok());
  REQUIRE(ufm.call(post({kB})).ok());  // changes nothing
  REQUIRE(ufm.call(of(Operation::delete_partition)).ok());
  CHECK(ufm.lose_writes(1) == 1);
  CHECK(members(ufm).size() == 2);
  CHECK(ufm.lose_writes(1) == 1);
  CHECK(members(ufm) == std::map<Guid, Membership>{{kA, Membership::full}});
  CHECK(ufm.lose_writes(5) == 1);
  CHECK_FALSE(exists(ufm));
  CHECK(ufm.lose_writes(1) == 0);
}

TEST_CASE("the log has every call, so that a judge can say what was not done") {
  UfmModel ufm([] { return UfmModel::Time(std::chrono::seconds(7)); });
  (void)ufm.call(post({kA, kB}, Membership::limited));
  (void)ufm.call(post({kA}, {}, PKey(0x7000)));
  (void)ufm.call(of(Operation::list));
  (void)ufm.call(of(Operation::put));
  Call theirs = post({kA}, {}, PKey(0x7001));
  theirs.caller = "other";
  (void)ufm.call(theirs);
  const auto log = ufm.log();
  REQUIRE(log.size() == 5);
  CHECK(text(log[0]) == "ibpod-sm post 0x0005 2 GUIDs limited: 200");
  CHECK(log[0].at == UfmModel::Time(std::chrono::seconds(7)));
  CHECK(log[0].changed);
  CHECK_FALSE(log[2].changed);
  CHECK(log[3].status == 400);

  const auto outside = writes_outside(log, "ibpod-sm", PKey(0x1), PKey(0xff));
  REQUIRE(outside.size() == 1);
  CHECK(outside[0].call.pkey == PKey(0x7000));
  CHECK(calls_of(log, "ibpod-sm", Operation::put).size() == 1);
  CHECK(calls_of(log, "other", Operation::put).empty());
  ufm.clear_log();
  CHECK(ufm.log().empty());
}

TEST_CASE("a change has a time, a generation and a listener; what changes nothing has none") {
  int now = 100, changes = 0;
  UfmModel ufm([&] { return UfmModel::Time(std::chrono::seconds(now)); });
  ufm.set_listener([&] { ++changes; });
  CHECK_FALSE(ufm.last_updated());
  REQUIRE(ufm.call(post({kA})).ok());
  CHECK(ufm.last_updated() == UfmModel::Time(std::chrono::seconds(100)));
  now = 200;
  REQUIRE(ufm.call(post({kA})).ok());
  CHECK(ufm.last_updated() == UfmModel::Time(std::chrono::seconds(100)));
  CHECK(changes == 1);

  const auto [generation, partitions] = ufm.snapshot();
  CHECK(partitions == ufm.partitions());
  CHECK(generation == ufm.generation());
  CHECK(ufm.lose_writes(1) == 1);
  CHECK(ufm.generation() == generation + 1);
  CHECK(changes == 2);
}

TEST_CASE("callers in several threads: no change is lost") {
  UfmModel ufm;
  std::vector<std::thread> callers;
  for (uint64_t caller = 0; caller < 4; ++caller)
    callers.emplace_back([&ufm, caller] {
      for (uint64_t guid = 1; guid <= 50; ++guid) (void)ufm.call(post({Guid(caller << 32 | guid)}));
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(members(ufm).size() == 200);
  CHECK(ufm.log().size() == 200);
  CHECK(ufm.generation() == 200);
}

Call add_group(Guid physical, std::vector<Guid> virtual_guids) {
  Call call = of(Operation::add_group);
  call.pkey = {};
  call.group = {{physical}, std::move(virtual_guids)};
  return call;
}

Call of_group(Operation operation, int id) {
  Call call = of(operation);
  call.group_id = id;
  return call;
}

TEST_CASE("groups of GUIDs are stored beside the partitions, and a failover may lose them, too") {
  UfmModel ufm;
  const uint64_t generation = ufm.generation();
  CHECK(ufm.call(add_group(kA, {kB})).group_id == 1);
  CHECK(ufm.call(add_group(kA, {kC})).group_id == 2);
  CHECK(ufm.groups() == GuidGroups{{1, {{kA}, {kB}}}, {2, {{kA}, {kC}}}});
  CHECK(ufm.call(of_group(Operation::read_group, 2)).groups.size() == 1);
  CHECK(ufm.call(of_group(Operation::remove_group, 3)).status == 404);
  CHECK(ufm.log().back().changed == false);
  CHECK(ufm.call(of_group(Operation::remove_group, 1)).ok());
  CHECK(ufm.log().back().changed);
  CHECK(text(ufm.log().back()) == "ibpod-sm remove_group 0x0005 1: 200");
  CHECK_MESSAGE(ufm.generation() == generation, "they are no partitions");
  CHECK(ufm.lose_writes(2) == 2);
  CHECK(ufm.groups() == GuidGroups{{1, {{kA}, {kB}}}});
  CHECK_MESSAGE(ufm.call(add_group(kB, {kC})).group_id == 2, "an ID that was given away before");

  ufm.set_switches({.port_in_one_group = true});
  CHECK(ufm.call(add_group(kA, {kC})).status == 400);
  CHECK(ufm.call(add_group(kC, {kC})).ok());
}

TEST_CASE("faults meet calls about groups of GUIDs as they do others") {
  UfmModel ufm;
  const auto with = [&](FaultKind kind) {
    ufm.inject({.kind = kind, .operations = {Operation::add_group}});
    CHECK(ufm.call(post({kA})).status == 200);
    return ufm.call(add_group(kA, {kB}));
  };
  CHECK(with(FaultKind::refuse).status == 500);
  CHECK(with(FaultKind::half_done).status == 500);
  const Outcome ignored = with(FaultKind::ignore);
  CHECK(ignored.group_id == 1);
  CHECK(ufm.groups().empty());
  CHECK_FALSE(with(FaultKind::lose_answer).delivered());
  CHECK(ufm.groups().size() == 1);
}

}  // namespace
}  // namespace ibpod::fake_ufm
