#include "sm/ufm/ufm_subnet_manager.h"

#include "sm/engine/test_engine.h"
#include "sm/ufm/test_api_contract.h"
#include "sm/ufm/test_reconciler_bed.h"
#include "tests/support/in_time.h"

namespace ibpod::sm::ufm::test {
namespace {

using engine::EngineStatus;
using engine::Health;
using engine::PortFault;

struct Engine {
  Engine() {
    settings.folder = folder.path() / "ufm";
    settings.effect = Duration(20);
  }
  void start() {
    auto made = std::make_unique<FakeUfm>(ufm);
    made->blocks = blocks;
    engine.reset();
    engine = UfmSubnetManager::start(settings, std::move(made), bell.rung()).value();
  }
  void apply(const Desire& desire) {
    engine->apply(++version, std::make_shared<const std::vector<fabric::PartitionDefinition>>(
                                 definitions_of(desire)));
  }
  EngineStatus until_swept() {
    return bell.wait(*engine, [this](const EngineStatus& now) { return now.swept == version; });
  }
  // Another administrator's.
  void put(ib::PKey pkey, fake_ufm::Partition partition) {
    fake_ufm::Partitions partitions = ufm.partitions();
    partitions[pkey] = std::move(partition);
    ufm.set_partitions(std::move(partitions));
  }

  TempFolder folder;
  fake_ufm::UfmModel ufm;
  EngineSettings settings{.pkeys = pool::PKeyPool::make({{1, kMost.value()}}).value(),
                          .folder = {}};
  engine::test::Bell bell;
  uint64_t version = 0;
  bool blocks = false;  // see FakeUfm
  std::unique_ptr<UfmSubnetManager> engine;
};

TEST_CASE("the model behind these tests keeps the contract of UfmApi") {
  fake_ufm::UfmModel ufm;
  FakeUfm api(ufm);
  ufm::check_contract(api);
}

TEST_CASE_FIXTURE(Engine, "the engine of UFM keeps the contract of all engines") {
  settings.pkeys = pool::PKeyPool::make({{1, 0x7ffe}}).value();
  start();
  engine::test::check_contract(*engine, bell);
  CHECK(engine->capabilities() ==
        engine::Capabilities{.writes = true, .follows_sweeps = false, .serves_vports = true});
  fabric::PartitionDefinition shown = fabric::default_definition();
  shown.members.push_back({fabric::PortGroup::all_switches, fabric::Membership::full});
  CHECK_MESSAGE(engine->as_written({fabric::default_definition()}) == std::vector{shown},
                "UFM decides the index of the default key, and makes all switches full members");
  const UfmCounts counts = engine->counts();
  CHECK(counts.additions >= 2);
  CHECK(counts.reconciled >= 2);
}

TEST_CASE_FIXTURE(Engine, "its partitions are in UFM, and stay when it ends") {
  start();
  apply({{kBlue, {{kA, kFull}, {kB, kLimited}}}});
  until_swept();
  engine.reset();
  const fake_ufm::Partitions partitions = ufm.partitions();
  REQUIRE(partitions.contains(kBlue));
  CHECK(partitions.at(kBlue).members.size() == 2);
  CHECK(partitions.at(fake_ufm::kManagement).members.empty());
  start();
  apply({});
  until_swept();
  CHECK_FALSE(ufm.partitions().contains(kBlue));
}

TEST_CASE_FIXTURE(Engine, "a P_Key that another user has is refused for a new partition") {
  put(kRed, {"theirs", true, {}, {{kForeign, {}}, {kA, {}}}});
  start();
  apply({{kBlue, {{kA, kFull}}}});
  until_swept();
  const Status refused = engine->check(definitions_of({{kRed, {{kA, kFull}}}}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::exists);
  CHECK(refused.error().text() ==
        "P_Key 0x0011 is in use in UFM with ports that are not members of this partition "
        "(00:00:00:00:00:00:00:f0): remove them in UFM, or choose another P_Key");
  CHECK(engine->check(definitions_of({{kRed, {{kA, kFull}, {kForeign, kFull}}}})));
  CHECK(engine->check(definitions_of({{kBlue, {{kB, kFull}}}})));
  // A partition that has it already does not keep others from being changed.
  apply({{kBlue, {{kA, kFull}}}, {kRed, {{kA, kLimited}}}});
  until_swept();
  CHECK(engine->check(definitions_of({{kBlue, {{kB, kFull}}}, {kRed, {{kA, kLimited}}}})));
  REQUIRE(engine->partition_faults().size() == 1);
  CHECK(engine->partition_faults()[0].pkey == kRed);
  CHECK(
      engine->partition_faults()[0].text.starts_with("P_Key 0x0011 is in use in UFM with 1 port"));
  REQUIRE(engine->port_faults().size() == 1);
  CHECK(engine->port_faults()[0].port == kA);
  CHECK(engine->port_faults()[0].kind == PortFault::Kind::not_added);
  CHECK(engine->status().health == Health::serving);
  CHECK(engine->check(definitions_of({{ib::PKey(0x1000), {}}})).error().code() == Code::invalid);
}

TEST_CASE_FIXTURE(Engine,
                  "before a first reading of UFM nothing is swept, so no partition is ready") {
  put(kRed, {"theirs", true, {}, {{kForeign, {}}}});
  ufm.inject({.kind = FaultKind::refuse, .status = 503, .operations = {Operation::list}});
  start();
  CHECK_MESSAGE(engine->check(definitions_of({{kRed, {}}})), "it has not been read");
  apply({{kRed, {}}, {kBlue, {{kA, kFull}}}});
  // From the first moment on in which something is swept, the fault is there.
  bell.wait(*engine, [this](const EngineStatus& now) {
    if (now.swept != 0) CHECK(engine->partition_faults().size() == 1);
    return now.swept == version;
  });
  CHECK(engine->partition_faults()[0].pkey == kRed);
  CHECK_MESSAGE(engine->port_faults().empty(), "it has no member that could have one");
}

TEST_CASE_FIXTURE(Engine, "partitions outside of its ranges are those of others") {
  put(ib::PKey(0x1000), {"storage", true, {}, {{kA, {ib::Membership::limited, true}}}});
  start();
  CHECK(engine->manual_partitions().empty());
  apply({{kBlue, {{kA, kFull}}}});
  until_swept();
  const auto others = engine->manual_partitions();
  REQUIRE(others.size() == 1);
  CHECK(others[0].name == "storage");
  CHECK(others[0].members == std::vector<fabric::Member>{{kA, fabric::Membership::limited}});
  CHECK(others[0].index0);
}

TEST_CASE_FIXTURE(Engine, "a fault of a port is told, and so is its end") {
  ufm.inject({.kind = FaultKind::ignore, .operations = {Operation::post}});
  start();
  apply({{kBlue, {{kA, kFull}}}});
  bell.wait(*engine, [this](const EngineStatus&) { return !engine->port_faults().empty(); });
  bell.wait(*engine, [this](const EngineStatus&) { return engine->port_faults().empty(); });
  CHECK(ufm.partitions().at(kBlue).members.size() == 1);
}

TEST_CASE_FIXTURE(Engine,
                  "what the site has set in UFM is in the findings, beside our partitions'") {
  put(kBlue, {"theirs", true, {}, {{kForeign, {}}}});
  start();
  apply({{kBlue, {{kA, kFull}}}});
  using Kind = engine::EngineFinding::Kind;
  const auto has = [](const EngineStatus& now, Kind kind) {
    return std::any_of(now.findings.begin(), now.findings.end(),
                       [&](const engine::EngineFinding& one) { return one.kind == kind; });
  };
  // The model shows no settings and no ports.
  const EngineStatus now = bell.wait(*engine, [&](const EngineStatus& status) {
    return has(status, Kind::unread_setting) && has(status, Kind::unwritten_pkey);
  });
  CHECK(now.health == Health::serving);
  CHECK(now.trouble.find("P_Key 0x0010 is in use in UFM") == 0);
}

TEST_CASE_FIXTURE(Engine, "VFs are put behind their PFs if that is set, beside the members") {
  settings.map_vfs = true;
  start();
  CHECK(engine->capabilities().confines_vfs);
  apply({{kBlue, {{kA, kFull}}}});
  engine->set_vf_ports({{kC, kA}, {kC, kB}});
  const auto in_ufm = [&](size_t vfs) {
    const fake_ufm::GuidGroups groups = ufm.groups();
    return groups.size() == 1 && groups.begin()->second.virtual_guids.size() == vfs;
  };
  CHECK(in_time([&] { return in_ufm(2) && engine->counts().confined_vfs == 2; }));
  until_swept();
  engine->set_vf_ports({{kC, kB}});
  CHECK(in_time([&] { return in_ufm(1) && engine->counts().confined_vfs == 1; }));
  SUBCASE("it stays when the engine ends") {
    engine.reset();
    CHECK(in_ufm(1));
  }
  SUBCASE("without the setting it goes") {
    settings.map_vfs = false;
    start();
    apply({{kBlue, {{kA, kFull}}}});
    CHECK(in_time([&] { return ufm.groups().empty(); }));
    CHECK(ufm.partitions().at(kBlue).members.size() == 1);
  }
  SUBCASE("a fault there is a finding, and changes nothing for the members") {
    engine->set_vf_ports({{ib::Guid(), kB}});
    const EngineStatus now = bell.wait(*engine, [](const EngineStatus& status) {
      return std::any_of(status.findings.begin(), status.findings.end(), [](const auto& finding) {
        return finding.kind == engine::EngineFinding::Kind::unconfined_vf;
      });
    });
    CHECK(now.health == Health::serving);
    CHECK(engine->port_faults().empty());
    CHECK(engine->counts().unconfined_vfs == 1);
  }
}

TEST_CASE_FIXTURE(Engine, "it ends at once, also during a call that hangs") {
  blocks = true;
  start();
  apply({{kBlue, {{kA, kFull}}}});
  bell.wait(*engine, [](const EngineStatus& now) { return now.health == Health::serving; });
  const Deadline deadline = Deadline::in(seconds(20));
  engine.reset();
  CHECK_FALSE(deadline.passed());
}

TEST_CASE_FIXTURE(Engine, "a damaged record is an error of the start") {
  const Path file = folder.write("ufm/0x0010.json", "{");
  const auto started =
      UfmSubnetManager::start(settings, std::make_unique<FakeUfm>(ufm), bell.rung());
  REQUIRE_FALSE(started);
  CHECK(started.error().code() == Code::invalid);
  CHECK(started.error().text().find(file.string()) == 0);
}

}  // namespace
}  // namespace ibpod::sm::ufm::test
