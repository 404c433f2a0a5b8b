// Trust in reports about ports: from which sources, for how long, and what invalidates them.
#include "sm/controller/test_fixture.h"
#include "tests/support/temp_folder.h"

#include <sstream>

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

using fabric::BindingState;
using fabric::Reason;

const fabric::Attachment kC1{"n1", "c1", "net1"};
constexpr ib::PKey kBlue{0x8001}, kForeign{0x8077};

// With the partition blue, swept.
struct Trust : Fixture {
  Trust() {
    partition("blue");
    settle();
  }
  void bound() {
    bind(kNode1, request(kVf1, "blue"));
    settle();
    REQUIRE(binding(kC1).state == BindingState::verified);
  }
  // The partition "store", 0x0900.
  void give_index0_to_administrator() {
    fabric::PartitionDefinition theirs;
    theirs.name = "store";
    theirs.pkey = ib::PKey(0x0900);
    theirs.index0 = true;
    theirs.members = {{fabric::PortGroup::all, fabric::Membership::limited}};
    engine.manual = {theirs};
    engine_says();
  }
  // The partition "machines", for ports that are not on the subnet yet.
  void open_to_machines() {
    fabric::Partition machines;
    machines.name = "machines";
    machines.allowed = {"*"};
    machines.proof = fabric::Proof::none;
    create(machines);
    REQUIRE(last == "ok");
  }
};

TEST_CASE_FIXTURE(Trust,
                  "where the port cannot be asked its node is believed, if it has read since") {
  ports[kVf1].there = false;
  const ib::PKeyTable good = table_of({kBlue});
  bind(kNode1, request(kVf1, "blue"));
  CHECK(observe(kNode1, kVf1, good) == "ok");
  place();
  end_sweep();
  read();
  CHECK(observe(kNode1, kVf1, good) == "ok");
  CHECK_MESSAGE(answers.back().empty(), "it may have read before the file was in place");
  CHECK(observe(kNode2, kVf1, good) == "denied");
  CHECK(observe(kNode1, kVf3, good) == "denied");
  CHECK(answers.back().empty());
  CHECK(observe(kNode1, kVf1, good) == "ok");
  CHECK(answers.back() == "verified");
  CHECK(binding(kC1).proof == fabric::Proof::node);
}

TEST_CASE_FIXTURE(Trust,
                  "a node reports its free ports, too; a report of an unknown GUID is not kept") {
  CHECK(observe(kNode1, kVf2, table_of({})) == "ok");
  CHECK(observe(kNode1, kVf3, table_of({})) == "denied");
  // Two tables of this size reach the limit for a node.
  const ib::PKeyTable half(32 << 10, kForeign);
  for (const ib::Guid port : {kVf1, kVf2}) ports[port].there = false;
  read(true);
  CHECK(observe(kNode1, ib::Guid(0x0002c90300000099), half) == "ok");
  CHECK(observe(kNode1, kVf1, half) == "ok");
  CHECK(observe(kNode1, kVf2, half) == "ok");
}

TEST_CASE_FIXTURE(Trust, "a node tells no key at a place that its port does not have") {
  read(true);
  ib::PKeyTable table = table_of({});
  REQUIRE(table.size() == ports[kVf1].table.size());
  table.resize(100);
  CHECK_MESSAGE(observe(kNode1, kVf1, table) == "ok", "free places mean nothing");
  table[8] = kForeign;
  CHECK(observe(kNode1, kVf1, table) == "invalid");
  ports[kVf1].there = false;
  read(true);
  CHECK_MESSAGE(observe(kNode1, kVf1, table) == "ok",
                "of a port that is not seen nothing is known");
}

TEST_CASE_FIXTURE(Trust, "all tables that one node tells have a bound together") {
  const ib::PKeyTable half(32 << 10, kForeign);
  for (const ib::Guid port : {kVf1, kVf2, kVf3}) ports[port].there = false;
  read(true);
  CHECK(observe(kNode1, kVf1, half) == "ok");
  CHECK(observe(kNode1, kVf2, half) == "ok");
  CHECK(observe(kNode1, kVf2, ib::PKeyTable(half.size() + 1, kForeign)) == "busy");
  CHECK(observe(kNode2, kVf3, half) == "ok");
}

TEST_CASE_FIXTURE(Trust, "a node's report is compared like the port's own table") {
  ports[kVf1].there = false;
  bind(kNode1, request(kVf1, "blue"));
  sweep();
  read();
  CHECK(observe(kNode1, kVf1, {}) == "ok");
  CHECK(observe(kNode1, kVf1, table_of({kBlue})) == "ok");
  REQUIRE(binding(kC1).state == BindingState::verified);
  CHECK(observe(kNode1, kVf1, table_of({kBlue, kForeign})) == "ok");
  CHECK(binding(kC1).state == BindingState::written);
  CHECK(binding(kC1).condition.reason == Reason::foreign_key);
  CHECK(observe(kNode1, kVf1, table_of({})) == "ok");
  CHECK(binding(kC1).condition.reason == Reason::missing_key);
}

TEST_CASE_FIXTURE(Trust, "what a node has said counts for some time, and not for ever") {
  ports[kVf1].there = false;
  bind(kNode1, request(kVf1, "blue"));
  sweep();
  read();
  observe(kNode1, kVf1, {});
  observe(kNode1, kVf1, table_of({kBlue}));
  tick(170'000);
  read(true);
  CHECK(binding(kC1).state == BindingState::verified);
  tick(20'000);
  read(true);
  CHECK(binding(kC1).state == BindingState::unknown);
}

TEST_CASE_FIXTURE(Trust, "what a node said before it fell silent proves nothing afterwards") {
  ports[kVf1].there = false;
  bind(kNode1, request(kVf1, "blue"));
  sweep();
  read();
  observe(kNode1, kVf1, {});
  observe(kNode1, kVf1, table_of({kBlue}));
  REQUIRE(binding(kC1).state == BindingState::verified);
  tick(static_cast<int>(policy().lease.count()));
  CHECK(binding(kC1).state == BindingState::unknown);
  controller->calls().sync(kNode1, {"n1", {{"c1", "net1"}}},
                           [](const auto& answer) { REQUIRE(answer); });
  tick();
  read();
  CHECK(binding(kC1).state != BindingState::verified);
  observe(kNode1, kVf1, {});
  observe(kNode1, kVf1, table_of({kBlue}));
  CHECK(binding(kC1).state == BindingState::verified);
}

TEST_CASE_FIXTURE(Trust, "a node does not know which of two ports with its GUID it has") {
  bind(kNode1, request(kVf1, "blue"));
  sweep();
  read();
  observe(kNode1, kVf1, {});
  probe::ProbeBatch twice{.begun = now().steady, .topology = topology(), .ports = {}};
  twice.ports.push_back({.port = kVf1,
                         .table = probe::ProbeError{probe::ProbeFailure::duplicate_guid},
                         .switch_port = {}});
  tick();
  controller->probed(twice);
  tick();
  observe(kNode1, kVf1, table_of({kBlue}));
  CHECK(binding(kC1).state == BindingState::unknown);
  CHECK(binding(kC1).condition.reason == Reason::duplicate);
}

TEST_CASE_FIXTURE(Trust,
                  "what was seen before the subnet manager threw its file away counts no more") {
  bind(kNode1, request(kVf1, "blue"));
  place();
  write_tables();
  probe::ProbeBatch early{.begun = now().steady, .topology = topology(), .ports = {}};
  early.ports.push_back({.port = kVf1, .table = ports[kVf1].table, .switch_port = {}});
  engine.discard();
  engine_says();
  controller->probed(early);
  tick();
  CHECK(answers.back().empty());
  place();
  end_sweep();
  read();
  CHECK(answers.back() == "verified");
}

TEST_CASE_FIXTURE(Trust, "while the fabric may be open nothing is verified, and no Bind answered") {
  bound();
  engine.discard();
  engine_says();
  CHECK(binding(kC1).state == BindingState::written);
  CHECK(binding(kC1).condition.reason == Reason::misconfigured);
  CHECK(bind(kNode1, request(kVf1, "blue")).empty());
  place();
  end_sweep();
  read();
  CHECK(answers.back() == "verified");
}

TEST_CASE_FIXTURE(Trust, "a loss between two looks at the engine is noticed, even if it is over") {
  bound();
  engine.discard();
  engine.now.swept = engine.now.placed;
  engine.now.health = engine::Health::serving;
  engine_says();
  CHECK(binding(kC1).state == BindingState::written);
  read();
  CHECK(binding(kC1).state == BindingState::verified);
}

TEST_CASE_FIXTURE(Trust, "after a loss, a node's report of the same version counts again") {
  ports[kVf1].there = false;
  bind(kNode1, request(kVf1, "blue"));
  sweep();
  read();
  observe(kNode1, kVf1, {});
  engine.discard();
  engine_says();
  observe(kNode1, kVf1, table_of({kBlue}));
  CHECK_MESSAGE(answers.back().empty(), "its stamp is from before");
  place();
  end_sweep();
  read();
  observe(kNode1, kVf1, {});
  observe(kNode1, kVf1, table_of({kBlue}));
  CHECK(answers.back() == "verified");
}

TEST_CASE_FIXTURE(Trust, "a version that the engine takes back was not in force") {
  bind(kNode1, request(kVf1, "blue"));
  const uint64_t before = engine.now.placed;
  place();
  write_tables();
  probe::ProbeBatch early{.begun = now().steady, .topology = topology(), .ports = {}};
  early.ports.push_back({.port = kVf1, .table = ports[kVf1].table, .switch_port = {}});
  engine.now.placed = before;
  engine_says();
  controller->probed(early);
  tick();
  CHECK(answers.back().empty());
  sweep();
  read();
  CHECK(answers.back() == "verified");
}

TEST_CASE_FIXTURE(Trust,
                  "a reading from before the engine's status was read is not dated after it") {
  bind(kNode1, request(kVf1, "blue"));
  probe::ProbeBatch before{
      .begun = now().steady + Duration(5), .topology = topology(), .ports = {}};
  before.ports.push_back({.port = kVf1, .table = table_of({kBlue}), .switch_port = {}});
  lag = Duration(10);
  place();
  controller->probed(before);
  tick();
  CHECK(answers.back().empty());
  lag = Duration(0);
  tick(20);
  write_tables();
  end_sweep();
  read();
  CHECK(answers.back() == "verified");
}

TEST_CASE_FIXTURE(Trust, "an older reading does not take a newer one's place") {
  bind(kNode1, request(kVf1, "blue"));
  probe::ProbeBatch early{.begun = now().steady, .topology = topology(), .ports = {}};
  early.ports.push_back(
      {.port = kVf1, .table = probe::ProbeError{probe::ProbeFailure::timeout}, .switch_port = {}});
  tick(10);
  settle();
  CHECK(answers.back() == "verified");
  controller->probed(early);
  tick();
  CHECK(binding(kC1).state == BindingState::verified);
}

TEST_CASE_FIXTURE(Trust, "a table read before its key was given back is no drift") {
  bound();
  probe::ProbeBatch early{.begun = now().steady, .topology = topology(), .ports = {}};
  early.ports.push_back({.port = kVf1, .table = ports[kVf1].table, .switch_port = {}});
  tick(10);
  unbind(kNode1, kC1);
  settle();
  REQUIRE(answers.back() == "released");
  controller->probed(early);
  tick();
  CHECK(tables.repairs.empty());
}

TEST_CASE_FIXTURE(Trust, "a repair that the next request has overtaken is not sent") {
  bound();
  for (auto& key : ports[kVf1].table)
    if (key == kBlue) key = ib::PKey();
  probe::ProbeBatch drifted{.begun = now().steady, .topology = topology(), .ports = {}};
  drifted.ports.push_back({.port = kVf1, .table = ports[kVf1].table, .switch_port = {}});
  tick();
  controller->set_time(now());
  controller->probed(drifted);
  unbind(kNode1, kC1);  // in the same tick
  CHECK(tables.repairs.empty());
}

TEST_CASE_FIXTURE(Trust,
                  "while a repair is on its way nothing is taken for the table's last word") {
  bound();
  for (auto& key : ports[kVf1].table)
    if (key == kBlue) key = ib::PKey();
  read(true);
  REQUIRE(tables.repairs.size() == 1);
  unbind(kNode1, kC1);
  sweep();
  read();
  CHECK_MESSAGE(answers.back().empty(), "the repair may still bring the key back");
  CHECK(tables.polled.contains(kVf1));
  repair();
  CHECK(answers.back().empty());
  write_tables();
  read();
  CHECK(answers.back() == "released");
}

TEST_CASE_FIXTURE(Trust, "the table of an enforcing switch port is compared, and repaired") {
  bind(kNode1, request(kVf1, "blue"), 60'000);
  sweep();
  const auto leaf = [&](std::vector<ib::PKey> keys) {
    probe::ProbeBatch readings{.begun = now().steady, .topology = topology(), .ports = {}};
    readings.ports.push_back(
        {.port = kVf1,
         .table = ports[kVf1].table,
         .switch_port = probe::SwitchPortResult{table_of(std::move(keys)), true, true}});
    tick();
    controller->set_time(now());
    controller->probed(readings);
    tick(2000);
  };
  leaf({});
  CHECK(answers.back().empty());
  CHECK(binding(kC1).condition.reason == Reason::missing_key);
  REQUIRE(tables.repairs.size() == 1);
  CHECK(tables.repairs[0].table == probe::Repair::Table::switch_port);
  repair();
  leaf({kBlue, kForeign});
  CHECK(binding(kC1).condition.reason == Reason::foreign_key);
  repair();
  leaf({kBlue});
  CHECK(binding(kC1).state == BindingState::verified);
  CHECK(binding(kC1).enforcement == fabric::Enforcement::leaf);
}

TEST_CASE_FIXTURE(Trust, "what one repair has not made right is read again, and repaired again") {
  const auto show = [&](std::vector<ib::PKey> own, std::vector<ib::PKey> leaf,
                        std::optional<probe::ProbeError> failure = {}) {
    probe::ProbeBatch readings{.begun = now().steady, .topology = topology(), .ports = {}};
    readings.ports.push_back(
        {.port = kVf2,
         .table = table_of(std::move(own)),
         .switch_port = probe::SwitchPortResult{table_of(std::move(leaf)), true, true},
         .repair_error = failure,
         .after_repair = !tables.repairs.empty()});
    tables.repairs.clear();
    controller->set_time(now());
    controller->probed(readings);
    tick(2000);
  };
  show({kForeign}, {kForeign});  // a port without a binding
  REQUIRE(tables.repairs.size() == 1);
  CHECK(tables.repairs[0].table == probe::Repair::Table::own);
  show({kForeign}, {kForeign}, probe::ProbeError{probe::ProbeFailure::timeout});
  CHECK_MESSAGE(tables.polled.contains(kVf2), "no scan is waited for");
  REQUIRE(tables.repairs.size() == 1);
  CHECK(tables.repairs[0].table == probe::Repair::Table::own);
  show({}, {kForeign});
  CHECK(tables.polled.contains(kVf2));
  REQUIRE(tables.repairs.size() == 1);
  CHECK(tables.repairs[0].table == probe::Repair::Table::switch_port);
  show({}, {});
  CHECK(!tables.polled.contains(kVf2));
  const std::string page = telemetry.metrics().text();
  CHECK(page.find("ibpod_sm_repairs_total{result=\"timeout\"} 1\n") != page.npos);
  CHECK(page.find("ibpod_sm_repairs_total{result=\"written\"} 2\n") != page.npos);
}

TEST_CASE("on another subnet than the subnet manager's nothing is believed, and nothing written") {
  Fixture bed;
  bed.own_port = ib::Guid(0x0002c90300000abc);
  bed.restart();
  bed.partition("blue");
  bed.bind(kNode1, request(kVf1, "blue"));
  bed.ports[kVf3].table[3] = kForeign;
  bed.settle();
  bed.read(true);
  CHECK(bed.binding(kC1).condition.reason == Reason::unreachable);
  CHECK(bed.binding(kC1).state != BindingState::verified);
  CHECK(bed.tables.repairs.empty());
}

TEST_CASE("another port that claims to be master does not count") {
  Fixture bed;
  bed.own_port = kVf3;  // but kSmPort claims to be the master
  bed.restart();
  bed.settle();
  bed.ports[kSmPort].table = Fixture::table_of({});
  bed.ports[kSmPort].table[0] = ib::PKey(0xffff);
  bed.ports[kVf3].table[0] = ib::PKey(0xffff);
  bed.read(true);
  REQUIRE(bed.tables.repairs.size() == 1);
  CHECK(bed.tables.repairs[0].port == kSmPort);
}

TEST_CASE_FIXTURE(Trust, "while another is master its tables are left to it") {
  bound();
  ++engine.now.losses;
  engine.now.swept = 0;
  engine.now.health = engine::Health::not_master;
  engine.now.trouble = "another one is";
  engine_says();
  CHECK(binding(kC1).state != BindingState::verified);
  CHECK(binding(kC1).condition.reason == Reason::no_master);
  ports[kVf1].table[1] = kForeign;
  engine.now.swept = engine.now.placed;
  engine_says();
  read(true);
  CHECK(tables.repairs.empty());
}

TEST_CASE_FIXTURE(Trust, "a subnet manager that ends at each start has not recovered") {
  bound();
  const auto is = [&](engine::Health health, const char* trouble) {
    engine.now.health = health;
    engine.now.trouble = trouble;
    engine_says();
  };
  is(engine::Health::gone, "it has ended");
  CHECK(logged("subnet manager: it has ended") != "");
  is(engine::Health::starting, "");
  is(engine::Health::gone, "it has ended");
  is(engine::Health::starting, "");
  CHECK(logged("subnet manager: resolved") == "");
  is(engine::Health::serving, "");
  CHECK(logged("subnet manager: resolved") != "");
}

TEST_CASE_FIXTURE(Trust, "a Bind that nothing enforces says why, and so does a partition") {
  engine.now.health = engine::Health::refused;
  engine.now.trouble = "the disk is full";
  engine_says();
  bind(kNode1, request(kVf1, "blue"), 50);
  partition("green");
  tick(60);
  CHECK(answers.back() == "requested");
  CHECK(last.find("the disk is full") != std::string::npos);
  CHECK(binding(kC1).condition.reason == Reason::misconfigured);
  CHECK(registry->partitions.view().find("green")->state == fabric::PartitionState::error);
  engine.now.health = engine::Health::serving;
  engine.now.trouble.clear();
  engine_says();
  CHECK(binding(kC1).condition.reason == Reason::waiting);
  CHECK(registry->partitions.view().find("green")->state == fabric::PartitionState::provisioning);
}

TEST_CASE_FIXTURE(Trust, "after an Unbind, the Bind that waited for the port is not done later") {
  bound();
  const fabric::Attachment next{"n1", "c2", "net1"};
  unbind(kNode1, kC1);
  bind(kNode1, request(kVf1, "blue", "c2"));
  const size_t waits = answers.size() - 1;
  CHECK(answers[waits].empty());
  unbind(kNode1, next);
  CHECK(answers[waits] == "unavailable");
  settle();
  CHECK(registry->journal.records().bindings.size() == 0);
}

TEST_CASE_FIXTURE(Trust, "a Bind whose port becomes free after its deadline is not done") {
  bound();
  unbind(kNode1, kC1);
  bind(kNode1, request(kVf1, "blue", "c2"), 50);
  tick(60);
  CHECK(answers.back() == "busy");
  settle();
  CHECK(registry->journal.records().bindings.size() == 0);
}

TEST_CASE_FIXTURE(Trust, "no binding gets index 0 where the administrator's own partition has it") {
  give_index0_to_administrator();
  fabric::Partition green;
  green.name = "green";
  green.index0 = true;
  green.allowed = {"*"};
  create(green);
  REQUIRE(last == "ok");
  CHECK(bind(kNode1, request(kVf1, "green")) == "busy");
  CHECK(last.find("0x0900") != std::string::npos);
  CHECK(bind(kNode1, request(kVf1, "blue")).empty());
  // For the parent interface of a child, the P_Key stays in place.
  own_port = kVf3;
  restart();
  for (const ib::Guid port : {kVf2, kVf3}) {
    fabricapi::BindRequest child = request(port, "green", "c" + port.text());
    child.kind = fabric::Kind::child;
    CHECK_MESSAGE(bind(kAdministrator, child).empty(), last);
  }
}

TEST_CASE_FIXTURE(
    Trust, "a port of no subnet is in a partition that asks for no proof, once OpenSM knows") {
  open_to_machines();
  settle();
  ports[kPf].table = table_of({});
  ports[kVf1].there = false;
  bind(kNode1, request(kVf1, "machines"));
  read(true);
  CHECK(binding(kC1).state == BindingState::requested);
  settle();
  CHECK_MESSAGE(binding(kC1).state != BindingState::verified,
                "the last look at all ports is older");
  read(true);
  CHECK(binding(kC1).state == BindingState::verified);
  CHECK(binding(kC1).proof == fabric::Proof::none);
  ports[kVf1].there = true;  // the machine has started, with an old key in its table
  ports[kVf1].table = table_of({kForeign});
  read(true);
  CHECK(binding(kC1).state == BindingState::written);
  repair();
  read();
  CHECK(binding(kC1).state == BindingState::verified);
  CHECK(binding(kC1).proof == fabric::Proof::port);
  ports[kVf1].there = false;
  unbind(kNode1, kC1);
  read(true);
  CHECK(binding(kC1).state == BindingState::releasing);
  settle();
  CHECK(binding(kC1).state == BindingState::releasing);
  read(true);
  read();
  CHECK(registry->journal.records().bindings.size() == 0);
}

TEST_CASE_FIXTURE(Trust, "a virtual port that no scan finds does not count as absent") {
  open_to_machines();
  settle();
  ports[kPf].virtualized = true;
  ports[kVf1].there = false;
  bind(kNode1, request(kVf1, "machines"));
  settle();
  read(true);
  CHECK(binding(kC1).state != BindingState::verified);
}

TEST_CASE_FIXTURE(Trust, "a requested GUID is granted when a full scan has not found it") {
  fabricapi::BindRequest first = request(kChosen, "blue");
  first.guid_requested = true;
  const std::string may_be =
      "GUID 02:00:00:01:00:00:00:01 may still be in use; retry after the next full scan "
      "(look.scanSeconds)";
  bind(kNode1, first);
  CHECK(last.find(may_be) != std::string::npos);
  fabricapi::BindRequest others = request(kVf2, "blue");
  others.guid_requested = true;
  bind(kNode1, others);
  CHECK(last.find("cannot be requested by pods of namespace team-a") != std::string::npos);
  ports[kChosen].table = table_of({});  // of a port that is not known
  read(true);
  bind(kNode1, first);
  CHECK(last.find(may_be) != std::string::npos);
  ports[kChosen].there = false;
  read(true);
  bind(kNode1, first);
  CHECK(binding(kC1).guid_requested);
  ports[kChosen].there = true;
  settle();
  read(true);
  read();
  REQUIRE(binding(kC1).state == BindingState::verified);
  bind(kNode1, first);
  CHECK(binding(kC1).state == BindingState::verified);

  // Its keys are removed before the VF has its own GUID back; the node's earlier report stays.
  CHECK(observe(kNode1, kChosen, table_of({kBlue})) == "ok");
  unbind(kNode1, kC1);
  settle();
  read();
  REQUIRE(registry->journal.records().bindings.size() == 0);
  fabricapi::BindRequest next = first;
  next.attachment = {"n2", "c9", "net1"};
  bind(kNode2, next);
  CHECK(last.find(may_be) != std::string::npos);
  read(true);
  bind(kNode2, next);
  CHECK(last.find(may_be) != std::string::npos);
  ports[kChosen].there = false;
  bind(kNode2, next);
  CHECK(last.find(may_be) != std::string::npos);
  read(true);
  read(true);
  bind(kNode2, next);
  CHECK(registry->journal.records().bindings.size() == 1);
}

TEST_CASE_FIXTURE(Trust, "a chosen GUID that no port shows is free when its binding has ended") {
  fabricapi::BindRequest chosen = request(kChosen, "blue");
  chosen.guid_requested = true;
  ports[kPf] = {};
  read(true);
  const auto end = [&](bool virtualized) {
    bind(kNode1, chosen);
    REQUIRE(registry->journal.records().bindings.size() == 1);
    ports[kPf].virtualized = virtualized;
    settle();
    read(true);
    CHECK_MESSAGE(binding(kC1).state == BindingState::written, "the pod may be about to have it");
    unbind(kNode1, kC1);
    read(true);
    CHECK_MESSAGE(registry->journal.records().bindings.size() == 1,
                  "the subnet manager has not swept without it");
    settle();
    CHECK_MESSAGE(registry->journal.records().bindings.size() == 1,
                  "not all ports have been looked at since");
    read(true);
  };
  end(false);
  CHECK(registry->journal.records().bindings.size() == 0);
  tick();
  read(true);
  end(true);
  CHECK_MESSAGE(registry->journal.records().bindings.size() == 1,
                "a virtual port shows nowhere while it is in use, too");
}

TEST_CASE_FIXTURE(Trust, "conflicts in a closed partition are not revealed") {
  give_index0_to_administrator();
  fabric::Partition closed;
  closed.name = "green";
  closed.pkey = ib::PKey(0x1002);
  closed.index0 = true;
  closed.allowed = {"team-z"};
  create(closed);
  REQUIRE(last == "ok");
  const auto refusal = [&](const std::string& name, std::optional<ib::PKey> pkey) {
    fabricapi::BindRequest asked = request(kVf1, name);
    asked.partitions = {{name, {}, pkey}};
    CHECK(bind(kNode1, asked) == "denied");
    return last;
  };
  const std::string of_none = " that pods of namespace team-a may be in";
  CHECK(refusal("green", {}).ends_with("there is no partition green" + of_none));
  CHECK(refusal("", ib::PKey(0x1002)).ends_with("there is no partition 0x1002" + of_none));
}

TEST_CASE_FIXTURE(Trust, "a node is not forgotten while the PF of its VFs is there") {
  bound();
  ports[kPf].virtualized = true;
  ports[kVf1].there = false;
  controller->set_time(now());
  controller->calls().forget_node(kAdministrator, {"n1", true}, deadline(10'000),
                                  [](const auto&) {});
  tick();
  sweep();
  read();
  CHECK(registry->journal.records().bindings.size() == 1);
  ports[kPf].there = false;
  read(true);
  read();
  CHECK(registry->journal.records().bindings.size() == 0);
}

TEST_CASE_FIXTURE(Trust,
                  "the log says how far a Bind has come after how long, and no more of it later") {
  const auto line_of = [&](const char* state) {
    return logged("binding is " + std::string(state));
  };
  const auto has = [](const std::string& line, const std::string& member) {
    return line.find(member) != line.npos;
  };
  log.set_least(log::Level::debug);
  lag = Duration(3);  // time after the beginning of the tick, such as for the disk
  bind(kNode1, request(kVf1, "blue"));
  // The fixture's ticks come a millisecond after their event.
  CHECK_MESSAGE(has(line_of("requested"), R"("us":4000,"turn_us":3000)"), line_of("requested"));
  sweep();
  tick(20);
  read();
  REQUIRE(binding(kC1).state == BindingState::verified);
  CHECK_MESSAGE(has(line_of("verified"), R"("turn_us":3000)"), line_of("verified"));
  CHECK_MESSAGE(!has(line_of("verified"), R"("us":4000)"), line_of("verified"));
  ports[kVf1].answers = false;
  read(true);
  ports[kVf1].answers = true;
  read(true);
  REQUIRE(binding(kC1).state == BindingState::verified);
  CHECK_MESSAGE(!has(line_of("verified"), "turn_us"), line_of("verified"));
}

TEST_CASE_FIXTURE(Trust, "from Bind to verified is measured once") {
  bound();
  const auto measured = [&] {
    const std::string page = telemetry.metrics().text();
    return page.find("bind_to_verified_seconds_count{proof=\"port\"} 1\n") != page.npos;
  };
  CHECK(measured());
  ports[kVf1].answers = false;
  read(true);
  ports[kVf1].answers = true;
  read(true);
  REQUIRE(binding(kC1).state == BindingState::verified);
  CHECK(measured());
  restart();
  settle();
  REQUIRE(binding(kC1).state == BindingState::verified);
  CHECK(measured());
}

}  // namespace
}  // namespace ibpod::sm::controller::test
