// The engine and OpenSM 3.3 together, checked by the contents of the ports' tables.
#include "tests/fabric/engine/engine_fixture.h"
#include "tests/fabric/engine/raw_opensm.h"

#include <csignal>
#include <filesystem>

namespace ibpod {
namespace {

using sm::engine::EngineStatus;
using sm::engine::Health;

fabric::PartitionDefinition at_index0(fabric::PartitionDefinition partition) {
  partition.index0 = true;
  return partition;
}

TEST_CASE("the engine keeps the contract of all engines with the real OpenSM") {
  EngineFixture fixture;
  sm::engine::test::check_contract(*fixture.engine, fixture.bell);
}

TEST_CASE("what is swept is in the tables, and nothing else") {
  sm::opensm::OpenSmSettings settings;
  settings.allow_both_pkeys = true;
  EngineFixture fixture(kSmHost, settings);
  Subnet subnet;
  for (const auto& tenants : {std::vector<fabric::PartitionDefinition>{},
                              {tenant(0x10, {full(1), limited(5)})},
                              {tenant(0x10, {limited(1)}), tenant(0x11, {full(5), full(7)})},
                              {tenant(0x11, {{fabric::PortGroup::all, fabric::Membership::both}})},
                              {}}) {
    fixture.enforce(tenants);
    CHECK(difference(fixture.definitions, subnet.tables()) == "");
  }
  CHECK(fixture.engine->status().fail_opens == 0);
}

TEST_CASE("index 0: from one partition to none, to another, and back") {
  EngineFixture fixture;
  Subnet subnet;
  const auto key_at_0 = [&] { return subnet.tables().at(3).at(0); };
  const fabric::PartitionDefinition a = at_index0(tenant(0x10, {full(3)}));
  const fabric::PartitionDefinition b = at_index0(tenant(0x11, {full(3)}));
  const fabric::PartitionDefinition c = tenant(0x12, {full(3)});
  const ib::PKey none(0x7fff);
  for (int round = 0; round < 2; ++round) {
    fixture.enforce({a});
    CHECK(key_at_0() == ib::PKey(0x8010));
    CHECK(difference(fixture.definitions, subnet.tables()) == "");
    fixture.enforce({});
    CHECK(key_at_0() == none);
    fixture.enforce({b, c});
    CHECK(key_at_0() == ib::PKey(0x8011));
    fixture.enforce({a, c});
    CHECK(key_at_0() == ib::PKey(0x8010));
    fixture.enforce({c});
    CHECK(key_at_0() == none);
    CHECK(difference(fixture.definitions, subnet.tables()) == "");
  }
}

TEST_CASE("wishes at fifty a second and more do not starve, and discoveries are not broken off") {
  EngineFixture fixture;
  Subnet subnet;
  fixture.enforce({});
  // One wish with each ring: as fast as the engine goes, and always one waiting.
  for (uint16_t i = 1; i <= 200; ++i) {
    const uint64_t version =
        fixture.set_definitions({tenant(static_cast<uint16_t>(0x100 + i % 20), {full(i % 8U)})});
    if (i % 4 == 0)
      fixture.until([&](const EngineStatus& now) { return now.swept + 8 >= version; });
  }
  const EngineStatus now = fixture.until_swept(201);
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
  CHECK(now.hups <= now.sweeps);
  MESSAGE("200 wishes: " << now.hups << " HUPs, " << now.sweeps << " sweeps, the last one "
                         << now.last_sweep.count() << " ms");
}

TEST_CASE("OpenSM that is killed is back, and the tables stay") {
  EngineFixture fixture;
  Subnet subnet;
  fixture.enforce({tenant(0x10, {full(1)})});
  fixture.kill();
  fixture.until(
      [](const EngineStatus& now) { return now.starts == 2 && now.health == Health::serving; });
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
  fixture.enforce({tenant(0x11, {full(1)})});
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
}

TEST_CASE("an engine that comes back finds OpenSM as it was left") {
  EngineFixture fixture;
  Subnet subnet;
  fixture.enforce({tenant(0x10, {full(1)})});
  const pid_t pid = fixture.running();
  fixture.engine.reset();
  CHECK(fixture.find() == pid);
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
  fixture.start();
  fixture.until([](const EngineStatus& now) { return now.health == Health::serving; });
  fixture.enforce({tenant(0x12, {full(1)})});
  CHECK(fixture.find() == pid);
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
}

TEST_CASE("with other settings OpenSM is started again, and the tables stay as they are") {
  EngineFixture fixture;
  Subnet subnet;
  fixture.enforce({tenant(0x10, {full(1)})});
  const auto before = subnet.tables();
  const pid_t pid = fixture.running();
  fixture.engine.reset();
  fixture.settings.launcher.opensm.max_wire_smps = 7;
  fixture.start();
  fixture.until([&](const EngineStatus& now) {
    CHECK(subnet.tables() == before);
    return now.health == Health::serving && now.sweeps >= 1;
  });
  CHECK(fixture.running() != pid);
  fixture.enforce({tenant(0x11, {full(1)})});
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
}

TEST_CASE("an edit that opens the fabric is undone, in the tables, too") {
  EngineFixture fixture;
  Subnet subnet;
  fixture.enforce({tenant(0x10, {full(1)})});
  fixture.replace("x\n");
  ::kill(fixture.running(), SIGHUP);  // so that OpenSM may read it before it is undone
  fixture.until([](const EngineStatus& now) { return now.restores >= 1 && now.swept == 1; });
  CHECK(!open_to_all(subnet.tables()));
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
}

TEST_CASE("a fabric that OpenSM has opened is told of, and closed again") {
  EngineFixture fixture;
  Subnet subnet;
  fixture.enforce({tenant(0x10, {full(1)})});
  // A file that cannot be replaced stays long enough to be read.
  fixture.folder.block(fixture.paths().partitions);
  fixture.until([](const EngineStatus& now) { return now.health == Health::refused; });
  ::kill(fixture.running(), SIGHUP);
  fixture.until([](const EngineStatus& now) { return now.health == Health::failed_open; });
  std::filesystem::remove_all(fixture.paths().partitions);
  const EngineStatus now = fixture.until(
      [](const EngineStatus& is) { return is.swept == 1 && is.health == Health::serving; });
  CHECK(now.fail_opens >= 1);
  CHECK(!open_to_all(subnet.tables()));
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
}

TEST_CASE("a log that is truncated, or rotated away, is followed on") {
  EngineFixture fixture;
  Subnet subnet;
  fixture.enforce({});
  std::filesystem::resize_file(fixture.paths().log, 0);
  fixture.enforce({tenant(0x10, {full(1)})});
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
  std::filesystem::rename(fixture.paths().log, fixture.folder.path() / "log.1");
  ::kill(*fixture.find(), SIGUSR1);  // OpenSM begins another
  fixture.enforce({tenant(0x11, {full(1)})});
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
}

TEST_CASE(
    "beside a subnet manager of higher priority ours is a standby, and says so, until it is "
    "master") {
  sm::opensm::OpenSmSettings quick;
  quick.polling_timeout = 100;
  quick.polling_retries = 1;
  sm::opensm::OpenSmSettings higher = quick;
  higher.priority = 10;
  auto other = std::make_unique<EngineFixture>(1, higher);
  other->enforce({});
  EngineFixture fixture(kSmHost, quick);
  const uint64_t version = fixture.set_definitions({tenant(0x10, {full(1)})});
  const EngineStatus now =
      fixture.until([](const EngineStatus& is) { return is.health == Health::not_master; });
  CHECK(now.trouble.find("another subnet manager") != std::string::npos);
  CHECK(now.placed == version);
  CHECK(now.swept == 0);
  other.reset();
  fixture.until_swept(version);
  CHECK(fixture.until([](const EngineStatus& is) { return is.health == Health::serving; }).hups ==
        0);
  Subnet subnet;
  CHECK(difference(fixture.definitions, subnet.tables()) == "");
}

}  // namespace
}  // namespace ibpod
