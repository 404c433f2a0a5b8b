// Each finding of `doctor`: its fault is put into the fabric, reported, and gone after its remedy.
#include "lib/base/files.h"
#include "sm/diagnose/health_checks.h"
#include "sm/diagnose/test_snapshot.h"

#include <set>

#include <doctest/doctest.h>

namespace ibpod::sm::diagnose {
namespace {

using diagnose::test::host;
using diagnose::test::TestSubnet;
using fabric::Membership;

engine::EngineStatus standing(engine::Health health) {
  engine::EngineStatus made;
  made.health = health;
  if (health != engine::Health::serving) made.trouble = "it is so";
  return made;
}

// The input of the checks.
struct Fabric {
  TestSubnet subnet{4};
  engine::EngineStatus engine = standing(engine::Health::serving);
  SmSettings settings{.m_key = true, .sm_key = true, .sa_key = true, .m_key_protection = 2};
  RegistryFacts facts;

  HealthChecks checks() { return run_checks(subnet.snapshot(), engine, settings, facts); }
};

struct Row {
  const char* what;
  Issue kind;
  void (*plant)(Fabric&);
  const char* named;       // required in the text
  const char* remedy;      // required in the remedy: the action
  void (*apply)(Fabric&);  // carries out the remedy and its consequences
};

void lock(Fabric& fabric) {
  for (unsigned n = 0; n < 4; ++n) fabric.subnet.port(n).m_key_protection = 2;
}
void protect(Fabric& fabric, uint8_t level) {
  fabric.settings.m_key_protection = 0;
  fabric.subnet.port(1).m_key_protection = level;
}

// A fault that the engine has found at its subnet manager.
using Kind = engine::EngineFinding::Kind;
void find(Fabric& fabric, Kind kind) {
  fabric.engine.findings = {{kind, 2, "UFM", "the engine says so", "do what it says"}};
}
void correct(Fabric& fabric) { fabric.engine.findings.clear(); }

const Row kRows[] = {
    {"an OpenSM that has not swept yet", Issue::engine,
     [](Fabric& f) { f.engine = standing(engine::Health::starting); }, "starting: it is so",
     "wait for its first sweep", [](Fabric& f) { f.engine = standing(engine::Health::serving); }},
    {"an OpenSM that is gone", Issue::engine,
     [](Fabric& f) { f.engine = standing(engine::Health::gone); }, "gone: it is so",
     "check ibpod-sm's log and OpenSM's",
     [](Fabric& f) { f.engine = standing(engine::Health::serving); }},
    {"an OpenSM whose port is down", Issue::engine,
     [](Fabric& f) {
       f.engine = standing(engine::Health::not_master);
       f.engine.port_down = true;
     },
     "not_master: it is so: the partitions in force stay", "bring up the link of that port",
     [](Fabric& f) { f.engine = standing(engine::Health::serving); }},
    {"a subnet that was not scanned", Issue::not_discovered,
     [](Fabric& f) { f.subnet.contents = {}; }, "has not been scanned yet",
     "wait for the first scan", [](Fabric& f) { f.subnet.contents = TestSubnet(4).contents; }},
    {"another subnet manager", Issue::other_manager,
     [](Fabric& f) {
       f.subnet.contents.managers.push_back({diagnose::test::host(1), mad::Failure{}});
     },
     "another subnet manager", "stop it", [](Fabric& f) { f.subnet.contents.managers.pop_back(); }},
    {"a default rule by which all are full", Issue::default_rule,
     [](Fabric& f) {
       f.subnet.partitions[0].members = {{fabric::PortGroup::all, Membership::full}};
     },
     "its rule makes every port a full member", "set defaultPartition.others to limited",
     [](Fabric& f) { f.subnet.partitions = {fabric::default_definition()}; }},
    {"a port that holds 0xffff", Issue::default_full,
     [](Fabric& f) { f.subnet.hold(1, {ib::kDefaultFull}); }, "holds 0xffff",
     "set defaultPartition.others to limited",
     [](Fabric& f) { f.subnet.hold(1, {diagnose::test::kLimited}); }},
    {"no M_Key", Issue::keys, [](Fabric& f) { f.settings.m_key = false; },
     "is OpenSM's default (0,", "name it as opensm.mKeyFile",
     [](Fabric& f) { f.settings.m_key = true; }},
    {"the standard SM_Key", Issue::keys, [](Fabric& f) { f.settings.sm_key = false; },
     "is OpenSM's default (1,", "name it as opensm.smKeyFile",
     [](Fabric& f) { f.settings.sm_key = true; }},
    {"the standard SA_Key", Issue::keys, [](Fabric& f) { f.settings.sa_key = false; },
     "any tenant can query", "name it as opensm.saKeyFile",
     [](Fabric& f) { f.settings.sa_key = true; }},
    {"a key that is not known", Issue::keys, [](Fabric& f) { f.settings.sa_key.reset(); },
     "is not known to ibpod-sm", "let ibpod-sm start OpenSM",
     [](Fabric& f) { f.settings.sa_key = true; }},
    {"an M_Key that is shown", Issue::m_key_shown, [](Fabric& f) { protect(f, 0); },
     "1 port at level 0", "set opensm.mKeyProtection to 2 in ibpod-sm's configuration",
     [](Fabric& f) {
       f.settings.m_key_protection = 2;
       lock(f);
     }},
    {"tables that all may read", Issue::readable, [](Fabric& f) { protect(f, 1); },
     "1 port at level 1", "set opensm.mKeyProtection to 2 in ibpod-sm's configuration",
     [](Fabric& f) {
       f.settings.m_key_protection = 2;
       lock(f);
     }},
    {"a port below the configured level", Issue::readable,
     [](Fabric& f) { f.subnet.port(1).m_key_protection = 1; }, "1 port at level 1",
     "OpenSM sets it at its next heavy sweep", lock},
    {"a switch that lets all pass", Issue::not_enforced,
     [](Fabric& f) { f.subnet.port(1).switch_port->enforcement->inbound = false; },
     "1 port on a switch that does not enforce", "at its next heavy sweep",
     [](Fabric& f) { f.subnet.port(1).switch_port->enforcement->inbound = true; }},
    {"a switch under an external OpenSM that lets all pass", Issue::not_enforced,
     [](Fabric& f) {
       f.settings.owner = SmOwner::external;
       f.subnet.port(1).switch_port->enforcement->inbound = false;
     },
     "1 port on a switch that does not enforce", "set part_enforce both",
     [](Fabric& f) { f.subnet.port(1).switch_port->enforcement->inbound = true; }},
    {"a switch that does not answer", Issue::enforcement_unknown,
     [](Fabric& f) { f.subnet.port(1).switch_port->enforcement.reset(); },
     "1 port on a switch that may not enforce", "find out why the switch does not answer",
     [](Fabric& f) {
       f.subnet.port(1).switch_port->enforcement = {
           .partition_cap = 64, .inbound = true, .outbound = true};
     }},
    {"members of both kinds", Issue::both,
     [](Fabric& f) {
       f.settings.allow_both = false;
       f.subnet.add({.name = "blue",
                     .pkey = ib::PKey(1),
                     .members = {{diagnose::test::host(1), Membership::both}}});
     },
     "blue: ", "set opensm.allowBothPkeys to true",
     [](Fabric& f) { f.settings.allow_both = true; }},
    {"members of both kinds, with an external OpenSM", Issue::both,
     [](Fabric& f) {
       f.settings.owner = SmOwner::external;
       f.settings.allow_both = false;
       f.subnet.add({.name = "blue",
                     .pkey = ib::PKey(1),
                     .members = {{diagnose::test::host(1), Membership::both}}});
     },
     "blue: ", "set allow_both_pkeys TRUE in opensm.conf",
     [](Fabric& f) { f.settings.allow_both = true; }},
    {"two partitions at index 0", Issue::index0,
     [](Fabric& f) {
       for (const uint16_t key : {uint16_t{1}, uint16_t{2}})
         f.subnet.add({.name = "p" + std::to_string(key),
                       .pkey = ib::PKey(key),
                       .index0 = true,
                       .members = {{diagnose::test::host(1), Membership::full}}});
     },
     "p1, p2", "`ibpodctl partition update NAME --no-index0`",
     [](Fabric& f) { f.subnet.partitions.back().index0 = false; }},
    {"a key without room", Issue::full_table, [](Fabric& f) { f.engine.full_tables = 1; },
     "1 time since the start", "put them into fewer partitions", nullptr},
    {"enforcement that was switched off", Issue::enforcement_lost,
     [](Fabric& f) { f.engine.enforcement_lost = 1; }, "1 time since the start",
     "put the node's pods into fewer partitions", nullptr},
    {"a GUID twice", Issue::duplicate,
     [](Fabric& f) { f.subnet.contents.duplicates = {diagnose::test::host(2)}; },
     "1 GUID found at two ports", "give one of the two ports another GUID",
     [](Fabric& f) { f.subnet.contents.duplicates.clear(); }},
    {"a part of the subnet that is silent", Issue::unseen,
     [](Fabric& f) {
       f.subnet.contents.unanswered = {
           {.path = mad::Route::along({1}).value(), .why = {mad::Reason::timeout}}};
       f.subnet.contents.unanswered_count = 1;
     },
     "1 request without an answer", "check the cable, the node",
     [](Fabric& f) {
       f.subnet.contents.unanswered.clear();
       f.subnet.contents.unanswered_count = 0;
     }},
    {"a subnet without an end", Issue::unseen,
     [](Fabric& f) { f.subnet.contents.truncated = true; }, "more nodes, or longer paths",
     "remove it from the fabric", [](Fabric& f) { f.subnet.contents.truncated = false; }},
    {"a table that is not known", Issue::unread,
     [](Fabric& f) { f.subnet.tables.erase(diagnose::test::host(1)); },
     "the tables of 1 port are unknown", "check each port's link and node",
     [](Fabric& f) { f.subnet.hold(1, {diagnose::test::kLimited}); }},
    {"a memory limit that is shared", Issue::shared_limit,
     [](Fabric& f) { f.engine.shared_cgroup = "OpenSM shares the cgroup"; },
     "OpenSM shares the cgroup", "run ibpod-sm by its systemd unit",
     [](Fabric& f) { f.engine.shared_cgroup.clear(); }},
    {"a key that others can read", Issue::start_refused,
     [](Fabric& f) { f.engine.start_refused = "/m_key has mode 0644"; }, "/m_key has mode 0644",
     "correct the file's mode or owner", [](Fabric& f) { f.engine.start_refused.clear(); }},
    {"an edit that was undone", Issue::undone_edit,
     [](Fabric& f) { f.engine.undone_edit = "an edit of partitions.conf was undone: line 9"; },
     "was undone: line 9", "remove partitions.conf.refused",
     [](Fabric& f) { f.engine.undone_edit.clear(); }},
    {"an entry of the declared file that is wrong", Issue::declared,
     [](Fabric& f) {
       f.facts.declared = {true, {"partitions[1].sl: 99"}};
     },
     "partitions[1].sl: 99", "correct the file that declaredPartitions names",
     [](Fabric& f) { f.facts.declared.texts.clear(); }},
    {"a deletion that waits", Issue::waiting,
     [](Fabric& f) {
       f.facts.stuck = {{StuckDeletion::Kind::partition, "red", {ib::Guid(0x0002c90300a1b2c3)}}};
     },
     "00:02:c9:03:00:a1:b2:c3", "`ibpodctl partition delete red --forget-ports`",
     [](Fabric& f) { f.facts.stuck.clear(); }},
    {"a released binding that waits", Issue::waiting,
     [](Fabric& f) {
       f.facts.stuck = {{StuckDeletion::Kind::bindings, "n1", {ib::Guid(0x0002c90300a1b2c3)}}};
     },
     "00:02:c9:03:00:a1:b2:c3", "`ibpodctl node forget n1 --force`",
     [](Fabric& f) { f.facts.stuck.clear(); }},
    {"a released binding on a virtual port", Issue::waiting,
     [](Fabric& f) {
       f.facts.stuck = {{StuckDeletion::Kind::vports, "n1", {ib::Guid(0x0002c90300a1b2c3)}}};
     },
     "00:02:c9:03:00:a1:b2:c3", "take the adapter's port off the subnet",
     [](Fabric& f) { f.facts.stuck.clear(); }},
    {"two machines of one name", Issue::duplicate_node,
     [](Fabric& f) { f.facts.duplicate_nodes = {"n1"}; }, "two machines use this node name",
     "give each machine a node name and a certificate of its own",
     [](Fabric& f) { f.facts.duplicate_nodes.clear(); }},
    {"a release that is too old", Issue::release, [](Fabric& f) { find(f, Kind::release); },
     "UFM: the engine says so", "do what it says", correct},
    {"a user without rights", Issue::no_right, [](Fabric& f) { find(f, Kind::no_right); },
     "UFM: the engine says so", "do what it says", correct},
    {"a default by which all are full", Issue::default_rule,
     [](Fabric& f) { find(f, Kind::default_full); }, "UFM: the engine says so", "do what it says",
     correct},
    {"an M_Key for each port", Issue::per_port_m_key,
     [](Fabric& f) { find(f, Kind::per_port_m_key); }, "UFM: the engine says so", "do what it says",
     correct},
    {"a subnet manager without ports", Issue::no_port, [](Fabric& f) { find(f, Kind::no_port); },
     "UFM: the engine says so", "do what it says", correct},
    {"a setting that is not shown", Issue::unread_setting,
     [](Fabric& f) { find(f, Kind::unread_setting); }, "UFM: the engine says so", "do what it says",
     correct},
    {"members of another client", Issue::foreign_member,
     [](Fabric& f) { find(f, Kind::foreign_member); }, "UFM: the engine says so", "do what it says",
     correct},
    {"a P_Key of another client", Issue::unwritten_pkey,
     [](Fabric& f) { find(f, Kind::unwritten_pkey); }, "UFM: the engine says so", "do what it says",
     correct},
    {"another IPoIB", Issue::other_ipoib, [](Fabric& f) { find(f, Kind::other_ipoib); },
     "UFM: the engine says so", "do what it says", correct},
    {"limited members that are full", Issue::widened, [](Fabric& f) { find(f, Kind::widened); },
     "UFM: the engine says so", "do what it says", correct},
    {"VFs that any node could take", Issue::unconfined_vf,
     [](Fabric& f) { find(f, Kind::unconfined_vf); }, "UFM: the engine says so", "do what it says",
     correct},
    {"a UFM that does not answer", Issue::engine,
     [](Fabric& f) {
       f.settings.owner = SmOwner::ufm;
       f.engine = standing(engine::Health::gone);
     },
     "gone: it is so", "check ibpod-sm's log and UFM's",
     [](Fabric& f) { f.engine = standing(engine::Health::serving); }},
    {"a UFM that has not answered yet", Issue::engine,
     [](Fabric& f) {
       f.settings.owner = SmOwner::ufm;
       f.engine = standing(engine::Health::starting);
     },
     "starting: it is so", "wait for UFM's first answers",
     [](Fabric& f) { f.engine = standing(engine::Health::serving); }},
};

TEST_CASE("each finding is named alone, and is gone when its remedy is done") {
  std::set<Issue> planted;
  for (const Row& row : kRows) {
    CAPTURE(row.what);
    planted.insert(row.kind);
    Fabric fabric;
    REQUIRE(fabric.checks().issues.empty());
    row.plant(fabric);
    const HealthChecks found = fabric.checks();
    REQUIRE(found.issues.size() == 1);
    const Finding& finding = found.issues.front();
    CHECK(found.counts.at(row.kind) > 0);
    CHECK_MESSAGE((finding.subject + ": " + finding.text).find(row.named) != std::string::npos,
                  finding.text);
    CHECK_MESSAGE(finding.remedy.find(row.remedy) != std::string::npos, finding.remedy);
    if (row.apply == nullptr) continue;  // a count since the start, which only a restart resets
    row.apply(fabric);
    CHECK(fabric.checks().issues.empty());
  }
  CHECK(planted.size() == static_cast<size_t>(kLastIssue) + 1);
}

TEST_CASE("a remedy names the configuration that there is, and no key that does nothing there") {
  for (const SmOwner owner : {SmOwner::external, SmOwner::observed, SmOwner::ufm}) {
    Fabric fabric;
    fabric.settings = {};
    fabric.settings.owner = owner;
    fabric.settings.allow_both = false;
    fabric.subnet.contents.managers.push_back({diagnose::test::host(1), mad::Failure{}});
    fabric.subnet.add({.name = "blue",
                       .pkey = ib::PKey(1),
                       .members = {{diagnose::test::host(1), Membership::both}}});
    fabric.subnet.partitions[0].members = {{fabric::PortGroup::all, Membership::full}};
    fabric.engine = standing(engine::Health::gone);
    fabric.subnet.port(1).m_key_protection = 0;
    fabric.subnet.port(2).switch_port->enforcement->inbound = false;
    fabric.subnet.hold(3, {ib::kDefaultFull});
    for (const Finding& finding : fabric.checks().issues) {
      CAPTURE(finding.subject);
      CAPTURE(finding.remedy);
      for (const char* without_effect : {"mKeyProtection", "set opensm.mKeyFile", "allowBothPkeys"})
        CHECK(finding.remedy.find(without_effect) == std::string::npos);
      // UFM has settings, logs and a default partition of its own.
      if (owner == SmOwner::ufm) {
        CHECK(finding.remedy.find("UFM") != std::string::npos);
        CHECK(finding.remedy.find("OpenSM's") == std::string::npos);
        CHECK(finding.remedy.find("smKeyFile") == std::string::npos);
      }
      if (owner == SmOwner::observed)
        CHECK(finding.remedy.find("ibpod-sm's conf") == std::string::npos);
      if (finding.subject != "M_Key protection") continue;
      CHECK(finding.remedy.find("set m_key_protection_level 2") != std::string::npos);
      CHECK((finding.remedy.find("OpenSM's configuration") != std::string::npos) ==
            (owner == SmOwner::external));
    }
  }
}

TEST_CASE("a default partition of full members is one finding, the engine's own if it has one") {
  Fabric fabric;
  fabric.subnet.partitions[0].members = {{fabric::PortGroup::all, Membership::full}};
  find(fabric, Kind::default_full);
  fabric.engine.findings.front().count = 1;
  const HealthChecks found = fabric.checks();
  REQUIRE(found.issues.size() == 1);
  CHECK(found.issues.front().text == "the engine says so");
  CHECK(found.counts.at(Issue::default_rule) == 1);
}

TEST_CASE("what a scan has shown has the time of the scan") {
  struct Seen {
    const char* what;
    void (*plant)(TestSubnet&);
  };
  const Seen rows[] = {
      {"full members", [](TestSubnet& s) { s.hold(1, {ib::kDefaultFull}); }},
      {"M_Keys", [](TestSubnet& s) { s.port(1).m_key_protection = 0; }},
      {"readable", [](TestSubnet& s) { s.port(1).m_key_protection = 1; }},
      {"passes", [](TestSubnet& s) { s.port(1).switch_port->enforcement->inbound = false; }},
      {"unknown switch", [](TestSubnet& s) { s.port(1).switch_port.reset(); }},
      {"duplicate", [](TestSubnet& s) { s.contents.duplicates = {diagnose::test::host(1)}; }},
      {"unseen", [](TestSubnet& s) { s.contents.unanswered_count = 1; }},
      {"unread", [](TestSubnet& s) { s.tables.erase(diagnose::test::host(1)); }},
      {"rival",
       [](TestSubnet& s) {
         s.contents.managers.push_back({diagnose::test::host(1), mad::Failure{}});
       }},
  };
  const fabric::WallTime when(std::chrono::hours(22) + std::chrono::minutes(36) +
                              std::chrono::milliseconds(10'500));
  for (const Seen& row : rows) {
    CAPTURE(row.what);
    Fabric fabric;
    row.plant(fabric.subnet);
    for (auto& [port, table] : fabric.subnet.tables) table.seen = when;
    FabricSnapshot snapshot = fabric.subnet.snapshot();
    snapshot.discovery_began = when;
    const HealthChecks found = run_checks(snapshot, fabric.engine, fabric.settings);
    REQUIRE(found.issues.size() == 1);
    CHECK_MESSAGE(found.issues[0].text.find("(seen at 22:36:10 UTC)") != std::string::npos,
                  found.issues[0].text);
  }
}

TEST_CASE("of tables that were read one after another the oldest has the time") {
  Fabric fabric;
  for (const unsigned n : {1u, 2u, 3u}) {
    fabric.subnet.hold(n, {ib::kDefaultFull});
    const auto late = std::chrono::seconds(n == 2 ? 1 : 30);
    fabric.subnet.tables[diagnose::test::host(n)].seen =
        fabric::WallTime(std::chrono::hours(22) + late);
  }
  CHECK(fabric.checks().issues.at(0).text.find("(seen at 22:00:01 UTC)") != std::string::npos);
}

}  // namespace
}  // namespace ibpod::sm::diagnose
