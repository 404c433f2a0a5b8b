#include "sm/controller/controller.h"

#include "sm/controller/test_fixture.h"

#include <functional>

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

using fabric::BindingState;
using fabric::Membership;

const fabric::Attachment kC1{"n1", "c1", "net1"}, kC2{"n1", "c2", "net1"};

// With the partition blue, swept.
struct Blue : Fixture {
  Blue() {
    partition("blue");
    REQUIRE(last == "ok");
    settle();
  }

  // The running repair of the first VF's table fails.
  void fail_repair() {
    tables.repairs.clear();
    probe::ProbeBatch failed{.begun = now().steady, .topology = topology(), .ports = {}};
    failed.ports.push_back({.port = kVf1,
                            .table = probe::ProbeError{probe::ProbeFailure::cancelled},
                            .after_repair = true});
    controller->probed(failed);
  }

  fabric::PartitionStatus status(const std::string& name) {
    fabric::PartitionStatus found;
    controller->calls().list_partitions(kAdministrator, {}, [&](const auto& listed) {
      for (const fabric::PartitionStatus& one : listed->items)
        if (one.spec.name == name) found = one;
    });
    tick();
    return found;
  }
};

TEST_CASE_FIXTURE(Blue, "a Bind is answered when the port's table has been seen to hold the key") {
  CHECK(bind(kNode1, request(kVf1, "blue")).empty());
  CHECK(binding(kC1).state == BindingState::requested);
  place();
  CHECK(binding(kC1).state == BindingState::written);
  CHECK(tables.polled == std::set{kVf1});
  read();
  CHECK(answers.back().empty());
  write_tables();
  read();
  CHECK(answers.back() == "verified");
  CHECK(binding(kC1).proof == fabric::Proof::port);
  CHECK(tables.polled.empty());
  CHECK(bind(kNode1, request(kVf1, "blue")) == "verified");
}

TEST_CASE_FIXTURE(Blue, "a table that was read before the file was in place proves nothing") {
  ports[kVf1].table[3] = ib::PKey(0x8001);
  bind(kNode1, request(kVf1, "blue"));
  probe::ProbeBatch early{.begun = now().steady, .topology = topology(), .ports = {}};
  early.ports.push_back({.port = kVf1, .table = ports[kVf1].table, .switch_port = {}});
  tick();
  place();
  controller->probed(early);
  tick();
  CHECK(binding(kC1).state == BindingState::written);
  CHECK(answers.back().empty());
}

TEST_CASE_FIXTURE(Blue, "an Unbind is answered when the key has left the table, and not before") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  CHECK(unbind(kNode1, kC1).empty());
  CHECK(binding(kC1).state == BindingState::releasing);
  place();
  read();
  CHECK(answers.back().empty());
  write_tables();
  read();
  CHECK(answers.back() == "released");
  CHECK(registry->journal.records().bindings.size() == 0);
  CHECK(unbind(kNode1, kC1) == "released");
}

TEST_CASE_FIXTURE(Blue, "the next pod's Bind waits until the last one's key has left the table") {
  bind(kNode1, request(kVf1, "blue", "c1"));
  settle();
  CHECK(bind(kNode1, request(kVf1, "blue", "c2"), 500).empty());
  CHECK_FALSE(registry->bindings.binding(kC2));
  unbind(kNode1, kC1);
  CHECK_FALSE(registry->bindings.binding(kC2));
  settle();
  CHECK(binding(kC2).state == BindingState::requested);
  settle();
  CHECK(answers == std::vector<std::string>{"verified", "verified", "released"});
}

TEST_CASE_FIXTURE(Blue, "a Bind whose port stays another's is refused at its deadline") {
  bind(kNode1, request(kVf1, "blue", "c1"));
  settle();
  CHECK(bind(kNode1, request(kVf1, "blue", "c2"), 500).empty());
  tick(600);
  CHECK(answers.back() == "busy");
}

TEST_CASE_FIXTURE(Blue,
                  "at the deadline the caller gets the present state, and the binding stays") {
  CHECK(bind(kNode1, request(kVf1, "blue"), 50).empty());
  place();
  tick(60);
  CHECK(answers.back() == "written");
  settle();
  CHECK(binding(kC1).state == BindingState::verified);
}

TEST_CASE_FIXTURE(Blue, "all that is asked in one turn is one transaction") {
  const size_t before = store.commits();
  for (const ib::Guid guid : {kVf1, kVf2}) {
    answers.emplace_back();
    controller->calls().bind(kNode1, request(guid, "blue", guid.text()), deadline(1000),
                             answer(answers.size() - 1));
  }
  tick();
  CHECK(store.commits() == before + 1);
  settle();
  CHECK(answers == std::vector<std::string>{"verified", "verified"});
}

TEST_CASE_FIXTURE(Blue, "what cannot be put on disk is not promised, and the engine never hears") {
  const uint64_t desired = engine.wanted_version;
  for (const auto failure : {FakeStore::Failure::full, FakeStore::Failure::lost}) {
    store.fail_at(0, failure);
    CHECK_FALSE(bind(kNode1, request(kVf1, "blue")).empty());
    CHECK(engine.wanted_version == desired);
    CHECK(registry->journal.records().bindings.size() == 0);
  }
  CHECK(bind(kNode1, request(kVf1, "blue")).empty());
  settle();
  CHECK(answers.back() == "verified");
}

TEST_CASE_FIXTURE(Blue, "a foreign key keeps a binding from being verified, and is removed") {
  ports[kVf1].table[5] = ib::PKey(0x8077);
  engine.apply();
  bind(kNode1, request(kVf1, "blue"));
  place();
  for (auto& key : ports[kVf1].table)
    if (key.partition() == 0) {
      key = ib::PKey(0x8001);
      break;
    }
  end_sweep();
  read();
  CHECK(answers.back().empty());
  CHECK(binding(kC1).condition.reason == fabric::Reason::foreign_key);
  REQUIRE(tables.repairs.size() == 1);
  CHECK(tables.repairs[0].kind == probe::Repair::Kind::revoke);
  repair();
  read();
  CHECK(answers.back() == "verified");
}

TEST_CASE_FIXTURE(Blue, "a table that another program changed is reported and repaired") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  for (auto& key : ports[kVf1].table)
    if (key.partition() == 1) key = ib::PKey();
  read(true);
  CHECK(binding(kC1).state == BindingState::written);
  CHECK(binding(kC1).condition.reason == fabric::Reason::missing_key);
  REQUIRE(tables.repairs.size() == 1);
  read();
  CHECK_MESSAGE(tables.repairs.size() == 1, "not again before it can have helped");
  repair();
  read();
  CHECK(binding(kC1).state == BindingState::verified);
  CHECK(telemetry.metrics().text().find("ibpod_sm_drifts_total 1") != std::string::npos);
}

TEST_CASE_FIXTURE(Blue, "a table that takes more than one repair has been changed once") {
  const auto drifts = [&] {
    return telemetry.metrics().text().find("ibpod_sm_drifts_total 1\n") != std::string::npos;
  };
  bind(kNode1, request(kVf1, "blue"));
  settle();
  for (auto& key : ports[kVf1].table)
    if (key.partition() == 1) key = ib::PKey();
  read(true);
  REQUIRE(tables.repairs.size() == 1);
  fail_repair();
  tick(2000);
  read(true);
  REQUIRE(tables.repairs.size() == 1);
  CHECK(drifts());
  repair();
  read();
  CHECK(binding(kC1).state == BindingState::verified);
  CHECK(drifts());
}

TEST_CASE_FIXTURE(Blue, "a read that a repair has overtaken tells of no other change") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  for (auto& key : ports[kVf1].table)
    if (key.partition() == 1) key = ib::PKey();
  read(true);
  REQUIRE(tables.repairs.size() == 1);
  probe::ProbeBatch late{.begun = now().steady + Duration(10), .topology = topology(), .ports = {}};
  late.ports.push_back({.port = kVf1, .table = ports[kVf1].table});
  repair(30);
  REQUIRE(binding(kC1).state == BindingState::verified);
  ms += 30;
  controller->set_time(now());
  controller->probed(late);
  tick();
  CHECK(tables.repairs.empty());
  CHECK(binding(kC1).state == BindingState::verified);
  CHECK(telemetry.metrics().text().find("ibpod_sm_drifts_total 1\n") != std::string::npos);
}

TEST_CASE_FIXTURE(Blue, "a port that the subnet manager has not come to has not been changed") {
  const auto drifted = [&] {
    return telemetry.metrics().text().find("ibpod_sm_drifts_total 1\n") != std::string::npos;
  };
  settle();
  ports[kVf1].table = {ib::PKey(0xffff), ib::PKey(), ib::PKey(), ib::PKey()};
  ports[kVf1].state = ib::PortState::init;
  read(true);
  CHECK_MESSAGE(tables.repairs.size() == 1, "it is mended");
  CHECK_FALSE(drifted());
  fail_repair();
  tick(2000);
  ports[kVf1].state = ib::PortState::active;
  read(true);
  CHECK_MESSAGE(drifted(), "its table is wrong although it is up");
}

TEST_CASE_FIXTURE(Blue, "a foreign key on a port that was seen in INIT is a change") {
  settle();
  ports[kVf1].table = {ib::PKey(0xffff), ib::PKey(0x8009), ib::PKey(), ib::PKey()};
  ports[kVf1].state = ib::PortState::init;
  read(true);
  CHECK(telemetry.metrics().text().find("ibpod_sm_drifts_total 1\n") != std::string::npos);
}

TEST_CASE_FIXTURE(Blue, "another change of a table that is not right yet is reported, too") {
  const auto drifts = [&](const char* number) {
    return telemetry.metrics().text().find(std::string("ibpod_sm_drifts_total ") + number + "\n") !=
           std::string::npos;
  };
  settle();
  ports[kVf1].table[2] = ib::PKey(0x8009);
  read(true);
  CHECK(drifts("1"));
  fail_repair();
  tick(2000);
  read(true);
  CHECK_MESSAGE(drifts("1"), "the same");
  fail_repair();
  ports[kVf1].table[3] = ib::PKey(0x800a);
  tick(4000);
  read(true);
  CHECK(drifts("2"));
}

TEST_CASE_FIXTURE(
    Blue, "a tenant's key in the place of the default one is told and mended, where we write") {
  SUBCASE("we write") { engine.writing = true; }
  SUBCASE("we look only: another subnet manager may have its reasons") { engine.writing = false; }
  bind(kNode1, request(kVf1, "blue"));
  settle();
  ib::PKeyTable& table = ports[kVf1].table;
  REQUIRE(table[0] == fabric::kDefaultPKey);
  REQUIRE(table[1].partition() == 1);
  std::swap(table[0], table[1]);
  read(true);
  CHECK((binding(kC1).state == BindingState::written) == engine.writing);
  if (!engine.writing) return;
  CHECK(binding(kC1).condition.text.find("another key at index 0") != std::string::npos);
  repair();
  read();
  CHECK(table[0] == fabric::kDefaultPKey);
  CHECK(binding(kC1).state == BindingState::verified);
}

TEST_CASE_FIXTURE(Blue, "a partition tells which of its static members is not as it should be") {
  fabric::Partition partition;
  partition.name = "store";
  partition.members = {{kVf2, Membership::full, ""}, {kVf3, Membership::limited, ""}};
  create(partition);
  settle();
  read(true);
  CHECK(status("store").condition == fabric::Condition{});
  ports[kVf2].table.assign(8, ib::PKey());
  read(true);
  CHECK(status("store").state == fabric::PartitionState::ready);
  CHECK(status("store").condition.reason == fabric::Reason::missing_key);
  CHECK(status("store").condition.text ==
        "member " + kVf2.text() + ": its P_Key table lacks 0x7fff, 0x8002");
  ports[kVf3].there = false;
  read(true);
  CHECK(status("store").condition.text.ends_with(" (and 1 more)"));
  repair();
  read(true);
  CHECK(status("store").condition.reason == fabric::Reason::port_down);
  CHECK(status("blue").condition == fabric::Condition{});
  ports[kVf3].there = true;
  read(true);
  CHECK(status("store").condition == fabric::Condition{});
}

TEST_CASE_FIXTURE(Blue, "free ports are kept clean, too") {
  ports[kVf2].table[4] = ib::PKey(0x8001);
  read(true);
  REQUIRE(tables.repairs.size() == 1);
  CHECK(tables.repairs[0].port == kVf2);
  repair();
  tick(2000);
  read(true);
  CHECK(tables.repairs.empty());
}

TEST_CASE_FIXTURE(Blue, "a passive engine repairs nothing") {
  engine.writing = false;
  engine_says();
  ports[kVf2].table[4] = ib::PKey(0x8001);
  read(true);
  CHECK(tables.repairs.empty());
}

TEST_CASE_FIXTURE(
    Blue, "a port that is silent is unknown, not clean, and verified when it speaks again") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  ports[kVf1].answers = false;
  read(true);
  CHECK(binding(kC1).state == BindingState::unknown);
  CHECK(binding(kC1).condition.reason == fabric::Reason::timeout);
  CHECK(unbind(kNode1, kC1, 50).empty());
  settle();
  tick(60);
  CHECK(answers.back() == "releasing");
  ports[kVf1].answers = true;
  read();
  CHECK(registry->journal.records().bindings.size() == 0);
}

TEST_CASE_FIXTURE(Blue, "a node that is gone for good is forgotten when its ports are nowhere") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  ports[kVf1].there = false;
  std::string forgotten;
  controller->set_time(now());
  controller->calls().forget_node(
      kAdministrator, {"n1", true}, deadline(10'000), [&](const Result<v1::FabricNode>& node) {
        forgotten = node ? "bindings " + std::to_string(node->bindings()) : node.error().text();
      });
  tick();
  CHECK(forgotten.empty());
  sweep();
  read();
  CHECK(forgotten == "bindings 0");
  CHECK(registry->journal.records().bindings.size() == 0);
}

TEST_CASE_FIXTURE(Blue, "a Bind that is cancelled while it waits for the port does not get it") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  fabricapi::BindRequest next = request(kVf1, "blue");
  next.attachment.container = "c2";
  bool gone = false;
  std::string outcome;
  controller->set_time(now());
  controller->calls().bind(kNode1, next, {deadline(60'000), [&] { return gone; }},
                           [&](const Result<fabric::Binding>& result) {
                             outcome = result ? name(result->state) : name(result.error().code());
                           });
  tick();
  CHECK(outcome.empty());
  gone = true;
  unbind(kNode1, kC1);
  settle();
  CHECK(outcome == "unavailable");
  CHECK(registry->journal.records().bindings.size() == 0);
}

TEST_CASE_FIXTURE(Blue,
                  "a port that has disappeared is distinguished from one that never existed") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  read(true);
  ports[kVf1].there = false;
  read(true);
  CHECK(binding(kC1).state == BindingState::unknown);
  CHECK(binding(kC1).condition.reason == fabric::Reason::port_down);
  ports[kVf1].there = true;
  read(true);
  CHECK(binding(kC1).state == BindingState::verified);
}

TEST_CASE_FIXTURE(Blue,
                  "a Bind that can only be refused is so at once, and another's DEL waited for") {
  ports[kVf1].table.resize(2);
  read(true);
  partition("green");
  CHECK(bind(kNode1, request(kVf1, "blue"), 60'000).empty());
  settle();
  fabricapi::BindRequest more = request(kVf1, "blue");
  more.partitions.push_back({"green", {}});
  CHECK(bind(kNode1, more, 60'000) == "busy");
  CHECK(last.find("capacity: ") != std::string::npos);
  fabricapi::BindRequest next = request(kVf1, "blue");
  next.attachment.container = "c2";
  CHECK(bind(kNode1, next, 60'000).empty());
}

TEST_CASE_FIXTURE(Blue,
                  "a VF that the subnet manager cannot serve is distinguished from a missing one") {
  ports.erase(kVf2);
  fabricapi::BindRequest one = request(kVf2, "blue");
  one.pf_guid = kPf;
  bind(kNode1, one);
  settle();
  CHECK(binding(one.attachment).condition.reason == fabric::Reason::port_down);
  ports[kPf].virtualized = true;
  read(true);
  const fabric::Binding bound = binding(one.attachment);
  CHECK(bound.state != BindingState::verified);
  CHECK(bound.condition.reason == fabric::Reason::vport);
  CHECK(bound.condition.text.find(kPf.text()) != std::string::npos);
  CHECK(bound.condition.text.find("does not serve virtual ports") != std::string::npos);
  engine.serves_vports = true;
  engine_says();
  read(true);
  CHECK(binding(one.attachment).condition.reason == fabric::Reason::vport);
  CHECK(binding(one.attachment).condition.text.find("whose table only its node can read") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Blue, "weaknesses are metrics") {
  settle();
  read(true);
  controller->update_metrics();
  const std::string page = telemetry.metrics().text();
  CHECK(page.find("ibpod_sm_weaknesses{kind=\"rival\"} 0\n") != page.npos);
  CHECK(page.find("ibpod_sm_weaknesses{kind=\"enforcement_unknown\"} 4\n") != page.npos);
}

TEST_CASE_FIXTURE(Blue, "a watcher gets every change until it ends") {
  std::vector<std::string> heard;
  std::shared_ptr<fabricapi::Watch> watch;
  bind(kNode1, request(kVf1, "blue"));
  controller->calls().watch_bindings(
      kAdministrator, {},
      [&](const fabricapi::BindingChange& change) {
        heard.emplace_back(change.gone ? "gone" : name(change.binding.state));
        return true;
      },
      [&](const auto& started) { watch = started.value(); });
  tick();
  settle();
  unbind(kNode1, kC1);
  settle();
  CHECK(heard == std::vector<std::string>{"requested", "written", "verified", "releasing", "gone"});
  watch.reset();
  bind(kNode1, request(kVf1, "blue"));
  CHECK(heard.size() == 5);
}

TEST_CASE_FIXTURE(Blue, "a key of the administrator's own partitions is given to no other") {
  engine.manual = {{.name = "admin", .pkey = ib::PKey(0x1005), .members = {{kVf3, {}}}}};
  engine_says();
  fabric::Partition partition;
  partition.name = "green";
  partition.pkey = ib::PKey(0x1005);
  create(partition);
  CHECK_MESSAGE(last.find("0x1005") != std::string::npos, last);
  partition.pkey = ib::PKey(0x1006);
  create(partition);
  CHECK(last == "ok");
}

TEST_CASE_FIXTURE(Blue, "what the engine could not enforce is refused before it is promised") {
  engine.refusal = "no";
  partition("green");
  CHECK(last == "no");
  CHECK_FALSE(registry->partitions.view().find("green"));
}

TEST_CASE_FIXTURE(Blue, "no partition takes index 0 of the subnet manager's own port") {
  fabric::Partition partition;
  partition.name = "green";
  partition.index0 = true;
  partition.allowed = {"*"};
  create(partition);
  own_port = kVf1;
  restart();
  CHECK(bind(kNode1, request(kVf1, "green")) == "invalid");
  CHECK_MESSAGE(bind(kNode1, request(kVf2, "green")).empty(), last);
}

// The next process keeps all promises, whatever was under way when the last one was killed.
TEST_CASE_FIXTURE(Blue, "killed at any time, it goes on where it was") {
  const std::vector<std::function<void()>> steps{
      [&] { bind(kNode1, request(kVf1, "blue")); },
      [&] { place(); },
      [&] { write_tables(); },
      [&] { end_sweep(); },
      [&] { read(); },
      [&] { unbind(kNode1, kC1); },
      [&] { place(); },
      [&] { write_tables(); },
      [&] { end_sweep(); },
      [&] { read(); },
  };
  for (size_t killed = 1; killed <= steps.size(); ++killed) {
    CAPTURE(killed);
    for (size_t step = 0; step < killed; ++step) steps[step]();
    engine.now.swept = engine.now.placed = 0;
    restart();
    const bool bound = killed < 6;
    CHECK(registry->journal.records().bindings.size() == (killed < steps.size() ? 1 : 0));
    settle();
    if (bound) {
      CHECK(binding(kC1).state == BindingState::verified);
      unbind(kNode1, kC1);
      settle();
    }
    CHECK(registry->journal.records().bindings.size() == 0);
  }
}

TEST_CASE_FIXTURE(Blue, "each call of a node shows that it is alive; calls of others do not") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  const auto heard_by = [&](const std::function<void()>& ask) {
    tick(60'000);
    const fabric::WallTime before = now().wall;
    ask();
    return registry->nodes.find("n1")->last_sync() >= before.time_since_epoch().count();
  };
  CHECK(heard_by([&] { bind(kNode1, request(kVf1, "blue")); }));
  CHECK(heard_by([&] { observe(kNode1, kVf2, table_of({})); }));
  CHECK_FALSE(heard_by([&] { observe(kNode1, kVf3, table_of({})); }));  // it is denied
  CHECK_FALSE(heard_by([&] { unbind(kAdministrator, kC1); }));
  CHECK(heard_by([&] { unbind(kNode1, kC1); }));
}

}  // namespace
}  // namespace ibpod::sm::controller::test
