// The engine and OpenSM 3.3 together, told by what the ports' tables hold.
#include "tests/fabric/engine/engine_fixture.h"
#include "tests/fabric/engine/raw_opensm.h"

#include <csignal>
#include <filesystem>

namespace ibpod {
namespace {

using sm::Health;
using sm::Standing;

fabric::Partition at_index0(fabric::Partition partition) {
  partition.index0 = true;
  return partition;
}

TEST_CASE("the engine keeps the contract of all engines with the real OpenSM") {
  EngineBed bed;
  sm::test::check_contract(*bed.engine, bed.bell);
}

TEST_CASE("what is swept is in the tables, and nothing else") {
  sm::OpenSmSettings settings;
  settings.allow_both_pkeys = true;
  EngineBed bed(kSmHost, settings);
  Subnet subnet;
  for (const auto& tenants : {std::vector<fabric::Partition>{},
                              {tenant(0x10, {full(1), limited(5)})},
                              {tenant(0x10, {limited(1)}), tenant(0x11, {full(5), full(7)})},
                              {tenant(0x11, {{fabric::PortGroup::all, fabric::Membership::both}})},
                              {}}) {
    bed.enforce(tenants);
    CHECK(difference(bed.wanted, subnet.tables()) == "");
  }
  CHECK(bed.engine->standing().fail_opens == 0);
}

TEST_CASE("index 0: from one partition to none, to another, and back") {
  EngineBed bed;
  Subnet subnet;
  const auto key_at_0 = [&] { return subnet.tables().at(3).at(0); };
  const fabric::Partition a = at_index0(tenant(0x10, {full(3)}));
  const fabric::Partition b = at_index0(tenant(0x11, {full(3)}));
  const fabric::Partition c = tenant(0x12, {full(3)});
  const ib::PKey none(0x7fff);
  for (int round = 0; round < 2; ++round) {
    bed.enforce({a});
    CHECK(key_at_0() == ib::PKey(0x8010));
    CHECK(difference(bed.wanted, subnet.tables()) == "");
    bed.enforce({});
    CHECK(key_at_0() == none);
    bed.enforce({b, c});
    CHECK(key_at_0() == ib::PKey(0x8011));
    bed.enforce({a, c});
    CHECK(key_at_0() == ib::PKey(0x8010));
    bed.enforce({c});
    CHECK(key_at_0() == none);
    CHECK(difference(bed.wanted, subnet.tables()) == "");
  }
}

TEST_CASE("wishes at fifty a second and more do not starve, and discoveries are not broken off") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({});
  // One wish with each ring: as fast as the engine goes, and always one waiting.
  for (uint16_t i = 1; i <= 200; ++i) {
    const uint64_t version =
        bed.want({tenant(static_cast<uint16_t>(0x100 + i % 20), {full(i % 8U)})});
    if (i % 4 == 0) bed.until([&](const Standing& now) { return now.swept + 8 >= version; });
  }
  const Standing now = bed.until_swept(201);
  CHECK(difference(bed.wanted, subnet.tables()) == "");
  CHECK(now.hups <= now.sweeps);
  MESSAGE("200 wishes: " << now.hups << " HUPs, " << now.sweeps << " sweeps, the last one "
                         << now.last_sweep.count() << " ms");
}

TEST_CASE("OpenSM that is killed is back, and the tables stay") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({tenant(0x10, {full(1)})});
  bed.kill();
  bed.until([](const Standing& now) { return now.starts == 2 && now.health == Health::serving; });
  CHECK(difference(bed.wanted, subnet.tables()) == "");
  bed.enforce({tenant(0x11, {full(1)})});
  CHECK(difference(bed.wanted, subnet.tables()) == "");
}

TEST_CASE("an engine that comes back finds OpenSM as it was left") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({tenant(0x10, {full(1)})});
  const auto pid = bed.find();
  bed.engine.reset();
  CHECK(bed.find() == pid);
  CHECK(difference(bed.wanted, subnet.tables()) == "");
  bed.start();
  bed.until([](const Standing& now) { return now.health == Health::serving; });
  bed.enforce({tenant(0x12, {full(1)})});
  CHECK(bed.find() == pid);
  CHECK(difference(bed.wanted, subnet.tables()) == "");
}

TEST_CASE("with other settings OpenSM is started anew, and the tables stay as they are") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({tenant(0x10, {full(1)})});
  const auto before = subnet.tables();
  const auto pid = bed.find();
  bed.engine.reset();
  bed.settings.keeper.opensm.max_wire_smps = 7;
  bed.start();
  bed.until([&](const Standing& now) {
    CHECK(subnet.tables() == before);
    return now.health == Health::serving && now.sweeps >= 1;
  });
  CHECK(bed.find() != pid);
  bed.enforce({tenant(0x11, {full(1)})});
  CHECK(difference(bed.wanted, subnet.tables()) == "");
}

TEST_CASE("an edit that opens the fabric is undone, in the tables, too") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({tenant(0x10, {full(1)})});
  bed.replace("x\n");
  ::kill(*bed.find(), SIGHUP);  // so that OpenSM may read it before it is undone
  bed.until([](const Standing& now) { return now.restores >= 1 && now.swept == 1; });
  CHECK(!open_to_all(subnet.tables()));
  CHECK(difference(bed.wanted, subnet.tables()) == "");
}

TEST_CASE("a fabric that OpenSM has opened is told of, and closed again") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({tenant(0x10, {full(1)})});
  // What cannot be replaced stays long enough to be read.
  bed.folder.block(bed.paths().partitions);
  bed.until([](const Standing& now) { return now.health == Health::refused; });
  ::kill(*bed.find(), SIGHUP);
  bed.until([](const Standing& now) { return now.health == Health::failed_open; });
  std::filesystem::remove_all(bed.paths().partitions);
  const Standing now =
      bed.until([](const Standing& is) { return is.swept == 1 && is.health == Health::serving; });
  CHECK(now.fail_opens >= 1);
  CHECK(!open_to_all(subnet.tables()));
  CHECK(difference(bed.wanted, subnet.tables()) == "");
}

TEST_CASE("a log that is truncated, or rotated away, is followed on") {
  EngineBed bed;
  Subnet subnet;
  bed.enforce({});
  std::filesystem::resize_file(bed.paths().log, 0);
  bed.enforce({tenant(0x10, {full(1)})});
  CHECK(difference(bed.wanted, subnet.tables()) == "");
  std::filesystem::rename(bed.paths().log, bed.folder.path() / "log.1");
  ::kill(*bed.find(), SIGUSR1);  // OpenSM begins another
  bed.enforce({tenant(0x11, {full(1)})});
  CHECK(difference(bed.wanted, subnet.tables()) == "");
}

TEST_CASE(
    "beside a subnet manager of higher priority ours is a standby, and says so, until it is "
    "master") {
  sm::OpenSmSettings quick;
  quick.polling_timeout = 100;
  quick.polling_retries = 1;
  sm::OpenSmSettings higher = quick;
  higher.priority = 10;
  auto other = std::make_unique<EngineBed>(1, higher);
  other->enforce({});
  EngineBed bed(kSmHost, quick);
  const uint64_t version = bed.want({tenant(0x10, {full(1)})});
  const Standing now =
      bed.until([](const Standing& is) { return is.health == Health::not_master; });
  CHECK(now.trouble.find("another subnet manager") != std::string::npos);
  CHECK(now.placed == version);
  CHECK(now.swept == 0);
  other.reset();
  bed.until_swept(version);
  CHECK(bed.until([](const Standing& is) { return is.health == Health::serving; }).hups == 0);
  Subnet subnet;
  CHECK(difference(bed.wanted, subnet.tables()) == "");
}

}  // namespace
}  // namespace ibpod
