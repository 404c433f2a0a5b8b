// The rows of the table "states and what ends them" in docs/ibpod-sm.md.
#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

constexpr ib::Guid kStorage{0x0002c90300a1b2c3};
constexpr int kMinutes = 150'000;

struct StuckBed : Fixture {
  StuckBed() { reach(); }
  // A partition with these members, in force, and all ports read.
  void reach(std::vector<ib::Guid> members = {}) {
    settle();
    read(true);
    fabric::Partition made = training();
    for (const ib::Guid guid : members)
      made.members.push_back({guid, fabric::Membership::full, ""});
    create(made);
    REQUIRE(last == "ok");
    settle();
    read(true);
  }
  static fabric::Partition training() {
    fabric::Partition partition;
    partition.name = "training";
    partition.pkey = ib::PKey(0x1001);
    return partition;
  }
  void member(std::vector<ib::Guid> members) {
    fabric::Partition changed = training();
    for (const ib::Guid guid : members)
      changed.members.push_back({guid, fabric::Membership::full, ""});
    controller->set_time(now());
    controller->calls().update_partition(kAdministrator, changed,
                                         [](const auto& done) { CHECK(done.ok()); });
    tick();
  }
  std::string remove(bool forget = false) {
    std::string text = "nothing";
    const auto done = [&](const Result<fabric::PartitionStatus>& removed) {
      text = removed ? removed->condition.text : removed.error().text();
    };
    controller->set_time(now());
    forget ? controller->calls().forget_ports(kAdministrator, "training", done)
           : controller->calls().delete_partition(kAdministrator, "training", done);
    tick();
    return text;
  }
  // The storage server appears, with the table that OpenSM has written.
  void arrive() {
    ports[kStorage].table[0] = fabric::kDefaultPKey;
    read(true);
  }
  bool is_there() const { return registry->partitions.view().find("training").has_value(); }
  // The first of doctor's findings for that subject: its text and remedy.
  std::string finding(const std::string& subject) {
    std::string found;
    controller->set_time(now());
    controller->calls().health(kAdministrator, [&](const Result<v1::FabricHealthResponse>& health) {
      REQUIRE(health);
      for (const v1::FabricHealthResponse::Finding& one : health->findings())
        if (found.empty() && one.subject().starts_with(subject))
          found = one.text() + "|" + one.remedy();
    });
    tick();
    return found;
  }
  bool shows(const std::string& line) {
    controller->update_metrics();
    return telemetry.metrics().text().find(line) != std::string::npos;
  }
  // Ports that have not converged are polled after full scans, whether they are present or not.
  void settle_all() {
    settle();
    read(true);
    read(true);
    read();
  }
};

TEST_CASE_FIXTURE(StuckBed, "partition: a member that was never on the subnet keeps no partition") {
  member({kStorage});
  settle_all();
  member({});
  settle_all();
  remove();
  CHECK(is_there());  // until the subnet manager has swept without the partition
  settle_all();
  CHECK_FALSE(is_there());
  reach();  // its name and its P_Key are free
}

TEST_CASE_FIXTURE(StuckBed, "partition: a scan from before the sweep without it proves nothing") {
  member({kStorage});
  settle_all();
  remove();
  settle();
  CHECK(is_there());
  read(true);
  read();
  CHECK_FALSE(is_there());
}

TEST_CASE_FIXTURE(StuckBed,
                  "partition: if another subnet manager writes tables, nothing has corrected it") {
  engine.writing = false;
  member({kStorage});
  settle_all();
  remove();
  settle_all();
  CHECK(is_there());
}

TEST_CASE_FIXTURE(StuckBed, "partition: what was found once is not forgotten by later changes") {
  arrive();
  member({kStorage});
  settle_all();
  ports[kStorage].there = false;
  read(true);
  SUBCASE("of other members") { member({kStorage, kVf1}); }
  SUBCASE("of this one, which has been taken out and is put in again") {
    member({});
    settle_all();
    member({kStorage});
  }
  settle_all();
  remove();
  settle_all();
  CHECK(is_there());
}

TEST_CASE_FIXTURE(StuckBed,
                  "partition: a member that was found after it became one is waited for") {
  member({kStorage});
  settle_all();
  arrive();
  ports[kStorage].there = false;
  read(true);
  remove();
  settle_all();
  CHECK(is_there());
}

TEST_CASE_FIXTURE(StuckBed, "partition: so is one that only its node has reported") {
  ports[kVf1].there = false;
  read(true);
  member({kVf1});
  settle_all();
  REQUIRE(observe(kNode1, kVf1, table_of({ib::PKey(0x9001)})) == "ok");
  read(true);
  tick(10 * kMinutes);  // earlier reports no longer count
  remove();
  settle_all();
  CHECK(is_there());
}

TEST_CASE_FIXTURE(
    StuckBed, "partition: a port that a scan has found waits until it is seen without the key") {
  arrive();
  member({kStorage});
  settle_all();
  ports[kStorage].there = false;
  read(true);
  remove();
  settle_all();
  CHECK(is_there());
  ports[kStorage].there = true;
  read(true);
  CHECK(is_there());
  repair();
  CHECK_FALSE(is_there());
}

TEST_CASE_FIXTURE(StuckBed, "partition: a virtual port shows nowhere, and may be there") {
  ports[kPf].virtualized = true;
  read(true);
  member({kStorage});
  settle_all();
  remove();
  settle_all();
  CHECK(is_there());
  remove(true);
  CHECK_FALSE(is_there());
}

TEST_CASE_FIXTURE(StuckBed,
                  "partition: what was before a restart, or the first scan, is not known") {
  member({kStorage});
  settle_all();
  restart();
  settle_all();
  remove();
  settle_all();
  CHECK(is_there());
  restart();
  settle_all();
  CHECK(is_there());
  remove(true);
  CHECK_FALSE(is_there());
}

TEST_CASE_FIXTURE(StuckBed, "partition: doctor and a metric name what waits for minutes") {
  arrive();
  member({kStorage});
  settle_all();
  ports[kStorage].there = false;
  read(true);
  tick(kMinutes);
  remove();
  tick(kMinutes);
  CHECK_MESSAGE(finding("partition training").empty(), "it waits for the subnet manager");
  settle_all();
  CHECK_FALSE(finding("partition training").empty());
  tick(kMinutes);
  const std::string issue = finding("partition training");
  CHECK_MESSAGE(issue.find(kStorage.text()) != issue.npos, issue);
  CHECK_MESSAGE(issue.find("`ibpodctl partition delete training --forget-ports`") != issue.npos,
                issue);
  CHECK(shows("ibpod_sm_weaknesses{kind=\"waiting\"} 1"));
  store.fail_at(0, FakeStore::Failure::lost);
  partition("other");
  CHECK(last != "ok");
  tick();
  CHECK_FALSE(finding("partition training").empty());  // the start of its wait is kept
  CHECK(remove().find(kStorage.text()) != std::string::npos);
  remove(true);
  CHECK_FALSE(is_there());
  CHECK(finding("partition training").empty());
  CHECK(shows("ibpod_sm_weaknesses{kind=\"waiting\"} 0"));
  CHECK(logged("force delete partition training").find("granted") != std::string::npos);
}

TEST_CASE_FIXTURE(StuckBed, "partition: what has waited for less than minutes is no finding") {
  arrive();
  member({kStorage});
  settle_all();
  ports[kStorage].there = false;
  read(true);
  tick(kMinutes);
  remove();
  settle_all();
  CHECK(finding("partition training").empty());
  tick(kMinutes);
  CHECK_FALSE(finding("partition training").empty());
}

TEST_CASE_FIXTURE(StuckBed, "partition: a port that is forgotten comes back: its key is removed") {
  arrive();
  member({kStorage});
  settle_all();
  ports[kStorage].there = false;
  read(true);
  remove();
  settle();
  remove(true);
  CHECK_FALSE(is_there());
  ports[kStorage].there = true;
  REQUIRE(ports[kStorage].table[1] == ib::PKey(0x9001));
  read(true);
  CHECK(shows("ibpod_sm_drifts_total 1"));
  REQUIRE(tables.repairs.size() == 1);
  repair();
  CHECK(ports[kStorage].table[1] == ib::PKey());
}

TEST_CASE_FIXTURE(StuckBed, "partition: a port that is seen to hold the key is not forgotten") {
  arrive();
  member({kStorage});
  settle_all();
  remove();
  place();
  end_sweep();  // the table should have changed, but has not
  read(true);
  CHECK(remove(true).find(kStorage.text()) != std::string::npos);
  CHECK(is_there());
  tick(kMinutes);
  CHECK_MESSAGE(finding("partition training").empty(), "it can be asked");
  repair();
  read(true);
  CHECK_FALSE(is_there());
}

TEST_CASE_FIXTURE(StuckBed, "partition: nor one whose switch port is seen to hold it") {
  arrive();
  member({kStorage});
  settle_all();
  ports[kStorage].answers = false;
  remove();
  settle();
  probe::ProbeBatch seen{.begun = now().steady, .topology = topology(), .ports = {}};
  seen.ports.push_back(
      {.port = kStorage,
       .table = probe::ProbeError{probe::ProbeFailure::timeout},
       .switch_port = probe::SwitchPortResult{table_of({ib::PKey(0x9001)}), true, true}});
  tick();
  controller->set_time(now());
  controller->probed(seen);
  CHECK(remove(true).find(kStorage.text()) != std::string::npos);
  CHECK(is_there());
}

TEST_CASE_FIXTURE(StuckBed, "partition: nor one that its node tells to hold it") {
  arrive();
  member({kVf1});
  settle_all();
  REQUIRE(observe(kNode1, kVf1, ports[kVf1].table) == "ok");
  ports[kVf1].there = false;
  remove();
  settle();
  read(true);
  REQUIRE(observe(kNode1, kVf1, table_of({ib::PKey(0x9001)})) == "ok");
  CHECK(remove(true).find(kVf1.text()) != std::string::npos);
  CHECK(is_there());
  tick(kMinutes);
  REQUIRE(observe(kNode1, kVf1, table_of({ib::PKey(0x9001)})) == "ok");
  CHECK_MESSAGE(finding("partition training").empty(), "its node can be asked");
}

TEST_CASE_FIXTURE(StuckBed,
                  "partition: it is removed after the sweep without it, forgotten or not") {
  member({kStorage});
  settle_all();
  CHECK(remove(true).find("not swept without it yet") != std::string::npos);
  CHECK(is_there());
  sweep();
  tick();
  CHECK_FALSE(is_there());
}

TEST_CASE_FIXTURE(StuckBed, "partition: a declared one is its file's, forgotten ports or not") {
  const auto read =
      partitions::read_declared(R"({"partitions": [{"name": "training", "pkey": "0x1001"}]})");
  controller->declare(*read);
  tick();
  CHECK(remove(true).find("is declared in a file") != std::string::npos);
}

struct StuckBinding : StuckBed {
  StuckBinding() {
    partition("blue");
    settle();
    bind(kNode1, request(kVf1, "blue"));
    settle();
    REQUIRE(answers.back() == "verified");
    ports[kVf1].there = false;
    read(true);
  }
  void forget_node() {
    controller->set_time(now());
    controller->calls().forget_node(kAdministrator, {"n1", true}, deadline(1000),
                                    [](const auto&) {});
    tick();
    settle_all();
  }
  bool has_binding() const { return !registry->bindings.bindings_on(kVf1).empty(); }
};

TEST_CASE_FIXTURE(StuckBinding, "binding: released, it waits for its port, and doctor names it") {
  tick(kMinutes);
  unbind(kNode1, {"n1", "c1", "net1"});
  settle_all();
  CHECK(has_binding());
  CHECK(finding("node n1").empty());
  tick(kMinutes);
  const std::string issue = finding("node n1");
  CHECK_MESSAGE(issue.find(kVf1.text()) != issue.npos, issue);
  CHECK_MESSAGE(issue.find("`ibpodctl node forget n1 --force`") != issue.npos, issue);
  CHECK(shows("ibpod_sm_weaknesses{kind=\"waiting\"} 1"));
  forget_node();  // as the remedy says; the PF is absent, too
  CHECK_FALSE(has_binding());
  CHECK(finding("node n1").empty());
}

TEST_CASE_FIXTURE(StuckBinding,
                  "binding: if it waits for the subnet manager, only that is reported") {
  unbind(kNode1, {"n1", "c1", "net1"});
  settle_all();
  tick(kMinutes);
  REQUIRE_FALSE(finding("node n1").empty());
  SUBCASE("it does not serve") {
    engine.now.health = engine::Health::stuck;
    engine_says();
  }
  SUBCASE("ibpod-sm has just started") { restart(); }
  SUBCASE("ibpod-sm has just started, and looked once") {
    restart();
    settle_all();
  }
  CHECK(finding("node n1").empty());
}

TEST_CASE_FIXTURE(StuckBinding, "binding: of a virtual port the remedy takes its adapter away") {
  ports[kPf].virtualized = true;
  read(true);
  unbind(kNode1, {"n1", "c1", "net1"});
  settle_all();
  tick(kMinutes);
  const std::string issue = finding("node n1");
  CHECK_MESSAGE(issue.find(kVf1.text()) != issue.npos, issue);
  CHECK_MESSAGE(issue.find("`ibpodctl node forget n1 --force`") != issue.npos, issue);
  CHECK_MESSAGE(issue.find("take the adapter's port off the subnet") != issue.npos, issue);
  forget_node();
  CHECK(has_binding());
  ports[kPf].there = false;
  settle_all();
  CHECK_FALSE(has_binding());
  CHECK(finding("node n1").empty());
}

TEST_CASE_FIXTURE(StuckBed,
                  "binding: without a reported PF it is released if there are no virtual ports") {
  partition("blue");
  settle();
  fabricapi::BindRequest nameless = request(kVf1, "blue");
  nameless.pf_guid = {};
  bind(kNode1, nameless);
  settle();
  ports[kVf1].there = false;
  ports[kPf].virtualized = true;
  read(true);
  controller->set_time(now());
  controller->calls().forget_node(kAdministrator, {"n1", true}, deadline(1000), [](const auto&) {});
  tick();
  settle_all();
  CHECK_FALSE(registry->bindings.bindings_on(kVf1).empty());
  ports[kPf].virtualized = false;
  settle_all();
  CHECK(registry->bindings.bindings_on(kVf1).empty());
}

TEST_CASE_FIXTURE(StuckBinding,
                  "binding: released, it goes when its port is back without the key") {
  unbind(kNode1, {"n1", "c1", "net1"});
  settle_all();
  CHECK(has_binding());
  ports[kVf1].there = true;
  settle_all();
  CHECK_FALSE(has_binding());
}

TEST_CASE_FIXTURE(StuckBinding, "node: forgotten, its VFs need not be back where its PF is") {
  ports[kPf] = {};
  read(true);
  forget_node();
  CHECK_FALSE(has_binding());
  CHECK_FALSE(registry->nodes.find("n1"));
}

TEST_CASE_FIXTURE(StuckBinding, "node: forgotten, virtual ports are waited for while their PF is") {
  ports[kPf].virtualized = true;
  read(true);
  forget_node();
  CHECK(has_binding());
  ports[kPf].there = false;
  settle_all();
  CHECK_FALSE(has_binding());
}

TEST_CASE_FIXTURE(StuckBed, "tables: all are read after the first good sweep") {
  Fixture fresh;
  CHECK(fresh.tables.looks == 0);
  fresh.sweep();
  CHECK(fresh.tables.looks == 1);
  fresh.partition("blue");
  fresh.sweep();
  CHECK(fresh.tables.looks == 1);
  fresh.engine.discard();
  fresh.engine_says();
  fresh.sweep();
  CHECK(fresh.tables.looks == 2);
}

TEST_CASE_FIXTURE(StuckBed, "doctor: a finding of a scan has the time of that scan") {
  ms = 3'600'000;  // 01:00:00
  read(true);
  tick(kMinutes);
  const std::string issue = finding("M_Key protection");
  CHECK_MESSAGE(issue.find("(seen at 01:00:00 UTC)") != issue.npos, issue);
}

}  // namespace
}  // namespace ibpod::sm::controller::test
