#include "sm/opensm/test_opensm.h"

namespace ibpod::sm::opensm {
namespace {

using engine::test::with_tenant;
using test::OpenSmBed;

TEST_CASE("the engine of OpenSM keeps the contract of all engines, and writes") {
  OpenSmBed bed;
  bed.start();
  engine::test::check_contract(*bed.engine, bed.bell);
  CHECK(bed.engine->capabilities() ==
        engine::Capabilities{.writes = true, .repairs_tables = true, .manual_section = true});
  CHECK(bed.engine->as_written({fabric::default_definition()}).front().index0);
  CHECK(bed.bad_readings() == 0);
}

TEST_CASE("OpenSM is started when its file is there, and not before") {
  OpenSmBed bed;
  bed.start();
  CHECK(bed.engine->status().health == engine::Health::starting);
  CHECK(!bed.find());
  bed.engine->apply(1, engine::test::with_tenant(1));
  const engine::EngineStatus now = bed.until_swept(1);
  CHECK(now.starts == 1);
  CHECK(now.hups == 0);
  CHECK(bed.readings() == 1);
}

TEST_CASE("what OpenSM remembers is in its folder, too") {
  OpenSmBed bed;
  bed.serve();
  const std::string environment =
      read_file("/proc/" + std::to_string(bed.pid()) + "/environ").value();
  CHECK(environment == "OSM_CACHE_DIR=" + bed.paths().cache.string() + std::string(1, '\0'));
}

TEST_CASE("wishes during a sweep come together; no discovery is broken off") {
  OpenSmBed bed;
  bed.serve();
  bed.let("hold");
  bed.engine->apply(2, engine::test::with_tenant(2));
  bed.until([](const engine::EngineStatus& now) { return now.placed == 2 && now.hups == 1; });
  for (uint16_t version = 3; version < 40; ++version)
    bed.engine->apply(version, engine::test::with_tenant(version));
  CHECK(bed.engine->status().placed == 2);
  bed.stop("hold");
  const engine::EngineStatus now = bed.until_swept(39);
  CHECK(now.hups == 2);
  CHECK(now.sweeps == 3);
  CHECK(bed.readings() == 3);
}

TEST_CASE("what OpenSM cannot be told does not come to it, and the next version does") {
  OpenSmBed bed;
  bed.serve();
  auto wrong =
      std::make_shared<std::vector<fabric::PartitionDefinition>>(*engine::test::with_tenant(2));
  wrong->push_back(wrong->back());
  bed.engine->apply(2, wrong);
  const engine::EngineStatus refused = bed.until(engine::Health::refused);
  CHECK(refused.trouble.find("0x0002") != std::string::npos);
  CHECK(refused.placed == 1);
  bed.engine->apply(3, engine::test::with_tenant(3));
  CHECK(bed.until_swept(3).placed == 3);
  CHECK(bed.until(engine::Health::serving).trouble.empty());
  CHECK(bed.bad_readings() == 0);
}

TEST_CASE("OpenSM outlives the engine, and is taken up again by the next one") {
  OpenSmBed bed;
  bed.serve();
  const pid_t pid = bed.pid();
  bed.engine.reset();
  bed.start();
  bed.until(engine::Health::serving);
  CHECK(bed.pid() == pid);
  bed.engine->apply(1, engine::test::with_tenant(9));
  CHECK(bed.until_swept(1).starts == 1);
  CHECK(bed.pid() == pid);
  CHECK(bed.bad_readings() == 0);
}

TEST_CASE(
    "OpenSM is started again where the settings have changed, once, and reads the same file") {
  OpenSmBed bed;
  bed.serve();
  const pid_t before = bed.pid();
  const std::string file = bed.text();
  bed.engine.reset();
  bed.settings.launcher.opensm.max_wire_smps = 7;
  bed.start();
  const auto swept_once = [](const engine::EngineStatus& now) { return now.sweeps == 1; };
  CHECK(bed.until(swept_once).starts == 1);
  const pid_t pid = bed.pid();
  CHECK(pid != before);
  CHECK(bed.text() == file);
  CHECK(read_file(bed.paths().conf)->find("max_wire_smps 7\n") != std::string::npos);
  bed.engine.reset();
  bed.start();
  bed.until(swept_once);
  CHECK(bed.pid() == pid);
  CHECK(bed.readings() == 3);
  CHECK(bed.bad_readings() == 0);
}

TEST_CASE("an OpenSM that runs is adopted though others can read a key file, and is reported") {
  OpenSmBed bed;
  const Path key = bed.folder.write("m_key", "0x1122334455667788\n");
  const auto set_mode = [&](unsigned mode) {
    std::filesystem::permissions(key, static_cast<std::filesystem::perms>(mode));
  };
  set_mode(0600);
  bed.settings.launcher.opensm.keys.m_key = key;
  bed.settings.supervisor.recheck = Duration(10);
  bed.serve();
  const pid_t pid = bed.pid();
  bed.engine.reset();
  set_mode(0644);
  bed.start();
  bed.engine->apply(1, engine::test::with_tenant(9));
  const engine::EngineStatus now = bed.until_swept(1);
  CHECK(bed.pid() == pid);
  CHECK(now.start_refused.find("m_key: " + key.string() + " has mode 0644") != std::string::npos);
  SUBCASE("with the right mode nothing is left to report") {
    set_mode(0600);
    bed.until([](const engine::EngineStatus& is) { return is.start_refused.empty(); });
    CHECK(bed.pid() == pid);
  }
  SUBCASE("a new one is not started until the mode is right") {
    bed.settings.supervisor.pause = Duration(10);
    OpenSmBed::end(pid, SIGKILL);
    bed.until([](const engine::EngineStatus& is) {
      return is.health == engine::Health::gone &&
             is.trouble.find("has mode 0644") != std::string::npos;
    });
    CHECK(!bed.find());
    set_mode(0600);
    bed.until(engine::Health::serving);
    CHECK(bed.engine->status().start_refused.empty());
  }
}

TEST_CASE("an OpenSM that is killed is started again, on its file") {
  OpenSmBed bed;
  bed.serve();
  const pid_t pid = bed.pid();
  OpenSmBed::end(pid, SIGKILL);
  bed.until([](const engine::EngineStatus& now) {
    return now.starts == 2 && now.health == engine::Health::serving;
  });
  CHECK(bed.pid() != pid);
  bed.engine->apply(2, engine::test::with_tenant(2));
  bed.until_swept(2);
  CHECK(bed.bad_readings() == 0);
}

TEST_CASE("one that cannot be started is told of") {
  OpenSmBed bed;
  bed.settings.launcher.launch.program = "/nowhere/opensm";
  bed.start();
  bed.engine->apply(1, engine::test::with_tenant(1));
  const engine::EngineStatus now =
      bed.until([](const engine::EngineStatus& is) { return !is.trouble.empty(); });
  CHECK(now.health == engine::Health::gone);
  CHECK(now.placed == 1);
  CHECK(now.trouble.find("/nowhere/opensm") != std::string::npos);
}

TEST_CASE("a file that others put into its place is replaced, and told of") {
  OpenSmBed bed;
  bed.serve();
  const std::string ours = bed.text();
  bed.replace("Default=0x7fff : ALL=full;\n");
  bed.until([](const engine::EngineStatus& now) { return now.restores == 1 && now.swept == 1; });
  CHECK(bed.text() == ours);
  const engine::EngineStatus now = bed.until(engine::Health::serving);
  CHECK(now.trouble.find("was undone") != std::string::npos);
  CHECK(now.undone_edit == now.trouble);
  REQUIRE(std::filesystem::remove(bed.paths().partitions.string() + ".refused"));
  bed.until(
      [](const engine::EngineStatus& is) { return is.undone_edit.empty() && is.trouble.empty(); });
}

TEST_CASE("an edit in place is seen, too") {
  OpenSmBed bed;
  bed.serve();
  const std::string ours = bed.text();
  std::ofstream(bed.paths().partitions) << "x";
  const uint64_t restores =
      bed.until([](const engine::EngineStatus& now) { return now.restores >= 1 && now.swept == 1; })
          .restores;
  CHECK(bed.text() == ours);
  std::filesystem::remove(bed.paths().partitions);
  bed.until(
      [&](const engine::EngineStatus& now) { return now.restores > restores && now.swept == 1; });
  CHECK(bed.text() == ours);
}

TEST_CASE("where OpenSM has read a bad file it is told of, and healed") {
  OpenSmBed bed;
  bed.serve();
  bed.let("hold");
  ::kill(bed.pid(), SIGUSR1);
  bed.folder.block(bed.paths().partitions);
  bed.until(engine::Health::refused);
  bed.stop("hold");
  CHECK(bed.until(engine::Health::failed_open).swept == 0);
  std::filesystem::remove_all(bed.paths().partitions);
  const engine::EngineStatus now = bed.until_swept(1);
  CHECK(now.fail_opens >= 1);
  CHECK(bed.until(engine::Health::serving).restores >= 1);
}

TEST_CASE("the administrator's section is taken over, and its keys are reserved") {
  OpenSmBed bed;
  bed.serve();
  bed.replace(bed.text() + "store=0x200 : SELF=full;\n");
  bed.until([](const engine::EngineStatus& now) { return now.hups == 1; });
  const auto theirs = bed.engine->manual_partitions();
  REQUIRE(theirs.size() == 1);
  CHECK(theirs[0].pkey == ib::PKey(0x200));
  CHECK(bed.engine->check(*engine::test::with_tenant(0x200)).error().code() == Code::exists);
  bed.engine->apply(2, engine::test::with_tenant(2));
  bed.until_swept(2);
  CHECK(bed.text().ends_with("store=0x200 : SELF=full;\n"));
  CHECK(bed.engine->status().restores == 0);
}

TEST_CASE("a log that is truncated or rotated away costs a sweep at most") {
  OpenSmBed bed;
  bed.serve();
  std::filesystem::resize_file(bed.paths().log, 0);
  bed.engine->apply(2, engine::test::with_tenant(2));
  bed.until_swept(2);
  std::filesystem::rename(bed.paths().log, bed.folder.path() / "log.1");
  bed.engine->apply(3, engine::test::with_tenant(3));
  bed.until_swept(3);
}

TEST_CASE("a standby is no master, until it is") {
  OpenSmBed bed;
  bed.let("standby");
  bed.start();
  bed.engine->apply(1, engine::test::with_tenant(1));
  CHECK(bed.until(engine::Health::not_master).placed == 1);
  bed.stop("standby");
  ::kill(bed.pid(), SIGUSR1);
  bed.until_swept(1);
  bed.until(engine::Health::serving);
}

TEST_CASE("sweeps with errors are over, too") {
  OpenSmBed bed;
  bed.serve();
  bed.let("faulty");
  bed.engine->apply(2, engine::test::with_tenant(2));
  const engine::EngineStatus now = bed.until_swept(2);
  CHECK(now.failed_sweeps == 1);
  CHECK(now.health == engine::Health::serving);
}

TEST_CASE("where sweeps with errors follow each other for ever, a version comes into place") {
  OpenSmBed bed;
  bed.serve();
  bed.let("faulty");
  bed.let("restless");
  ::kill(bed.pid(), SIGUSR1);
  bed.until([](const engine::EngineStatus& now) { return now.failed_sweeps >= 3; });
  bed.engine->apply(2, engine::test::with_tenant(2));
  bed.until_swept(2);
  bed.stop("restless");
  CHECK(bed.bad_readings() == 0);
}

TEST_CASE("while the port of OpenSM is down that is told, and a version waits in its place") {
  OpenSmBed bed;
  bed.serve();
  bed.let("down");
  for (int looks = 0; looks < 3; ++looks) {
    ::kill(bed.pid(), SIGUSR1);
    const engine::EngineStatus down = bed.until(engine::Health::not_master);
    CHECK(down.trouble == "the port of OpenSM is down");
    CHECK(down.port_down);
  }
  bed.engine->apply(2, engine::test::with_tenant(2));
  bed.until([](const engine::EngineStatus& now) { return now.placed == 2; });
  CHECK(bed.engine->status().swept == 1);
  bed.stop("down");
  ::kill(bed.pid(), SIGUSR1);
  bed.until_swept(2);
  bed.until(engine::Health::serving);
}

TEST_CASE("a HUP that OpenSM does not hear is sent again, and told of") {
  OpenSmBed bed;
  bed.settings.limits.begin = Duration(50);
  bed.serve();
  bed.let("deaf");
  bed.engine->apply(2, engine::test::with_tenant(2));
  bed.until([](const engine::EngineStatus& now) {
    return now.health == engine::Health::stuck && now.hups >= 3;
  });
  bed.stop("deaf");
  bed.until_swept(2);
  bed.until(engine::Health::serving);
}

TEST_CASE("no key may take index 0 of the subnet manager's own port") {
  OpenSmBed bed;
  bed.settings.launcher.opensm.port = ib::Guid(0x100001);
  bed.start();
  const auto refused = [&](const fabric::PortSpecifier& port) {
    auto definitions = *engine::test::with_tenant(1, {{port, fabric::Membership::full}});
    definitions.back().index0 = true;
    return !bed.engine->check(definitions).ok();
  };
  CHECK(refused(ib::Guid(0x100001)));
  CHECK(refused(fabric::PortGroup::all));
  CHECK(refused(fabric::PortGroup::all_cas));
  CHECK(refused(fabric::PortGroup::self));
  CHECK(!refused(ib::Guid(0x100003)));
  auto keeping =
      *engine::test::with_tenant(1, {{ib::Guid(0x100001), fabric::Membership::full, true}});
  keeping.back().index0 = true;
  CHECK(bed.engine->check(keeping).ok());
  CHECK(!refused(fabric::PortGroup::all_switches));
}

}  // namespace
}  // namespace ibpod::sm::opensm
