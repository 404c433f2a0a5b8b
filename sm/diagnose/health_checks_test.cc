#include "sm/diagnose/health_checks.h"

#include "sm/diagnose/test_snapshot.h"

#include <doctest/doctest.h>

namespace ibpod::sm::diagnose {
namespace {

using diagnose::test::host;
using diagnose::test::TestSubnet;
using fabric::Membership;
using fabric::PortGroup;

engine::EngineStatus standing(engine::Health health = engine::Health::serving,
                              const std::string& trouble = "") {
  engine::EngineStatus made;
  made.health = health;
  made.trouble = trouble;
  return made;
}

mad::SmInfo info(mad::SmState state, uint8_t priority = 0) {
  mad::SmInfo made;
  made.state = state;
  made.priority = priority;
  return made;
}

SmSettings locked() {
  return {.m_key = true, .sm_key = true, .sa_key = true, .m_key_protection = 2};
}

HealthChecks checks_of(TestSubnet& subnet, const SmSettings& settings = locked(),
                       const engine::EngineStatus& engine = standing()) {
  return run_checks(subnet.snapshot(), engine, settings);
}

// The only finding, if it has this kind and count.
std::string only(const HealthChecks& checks, Issue weakness, size_t count) {
  for (const auto& [each, found] : checks.counts) {
    CAPTURE(name(each));
    CHECK(found == (each == weakness ? count : 0));
  }
  REQUIRE(checks.issues.size() == 1);
  const Finding& finding = checks.issues.front();
  CHECK_FALSE(finding.subject.empty());
  CHECK_FALSE(finding.remedy.empty());
  return finding.subject + ": " + finding.text;
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a fabric that is locked has no findings, and counts of 0 for all that is looked at") {
  TestSubnet subnet(3);
  const HealthChecks checks = checks_of(subnet);
  for (const Finding& finding : checks.issues) FAIL_CHECK(finding.text);
  CHECK(checks.counts.size() == static_cast<size_t>(kLastIssue) + 1);
  std::set<std::string_view> names;
  for (const auto& [weakness, count] : checks.counts) {
    CHECK(count == 0);
    CHECK(names.insert(name(weakness)).second);
  }
}

TEST_CASE("a default partition in which every port is full opens everything") {
  TestSubnet subnet(2);
  for (const Membership membership : {Membership::full, Membership::both}) {
    subnet.partitions[0].members = {{PortGroup::all, membership}};
    CHECK(has(only(checks_of(subnet), Issue::default_rule, 1), "its rule makes every port a full"));
  }
  subnet.partitions[0].members = {{PortGroup::all, Membership::limited},
                                  {diagnose::test::host(1), Membership::full}};
  CHECK(checks_of(subnet).issues.empty());
}

TEST_CASE("full members of the default partition are counted as their tables say, three named") {
  TestSubnet subnet(6);
  for (const unsigned n : {1U, 2U, 4U, 5U})
    subnet.hold(n, {diagnose::test::kLimited, ib::kDefaultFull});
  const std::string text = only(checks_of(subnet), Issue::default_full, 4);
  CHECK(has(text, "4 ports other than the subnet manager's hold 0xffff"));
  CHECK(has(text, "(\"h1 mlx5_0\"), 00:02:c9:03:00:00:00:03 (\"h2 mlx5_0\"), "));
  CHECK(has(text, "(\"h4 mlx5_0\") and 1 more"));
}

TEST_CASE("a switch is a full member of the default partition where the subnet manager says so") {
  TestSubnet subnet(2);
  subnet.tables[diagnose::test::kSwitch].keys[0] = ib::kDefaultFull;
  CHECK(has(only(checks_of(subnet), Issue::default_full, 1), "(\"leaf\")"));
  subnet.partitions[0].members.push_back({PortGroup::all_switches, Membership::full});
  CHECK(checks_of(subnet).issues.empty());
  subnet.hold(1, {ib::kDefaultFull});
  only(checks_of(subnet), Issue::default_full, 1);
}

TEST_CASE("default keys are named; keys that another program has set are unknown") {
  TestSubnet subnet(1);
  SmSettings settings = locked();
  settings.m_key = false;
  CHECK(has(only(checks_of(subnet, settings), Issue::keys, 1), "m_key: is OpenSM's default"));
  settings = locked();
  settings.sm_key = false;
  CHECK(has(only(checks_of(subnet, settings), Issue::keys, 1), "sm_key: is OpenSM's default"));
  settings = locked();
  settings.sa_key.reset();
  CHECK(has(only(checks_of(subnet, settings), Issue::keys, 1), "sa_key: is not known to ibpod-sm"));
}

TEST_CASE("M_Key protection is what the ports show, and nothing without an M_Key") {
  TestSubnet subnet(3);
  subnet.port(1).m_key_protection = 0;
  CHECK(has(only(checks_of(subnet), Issue::m_key_shown, 1), "1 port at level 0"));
  subnet.port(1).m_key_protection = 1;
  CHECK(has(only(checks_of(subnet), Issue::readable, 1), "1 port at level 1"));
  subnet.port(1).m_key_protection = 3;
  subnet.port(2).m_key_protection = 0;
  subnet.port(2).state = ib::PortState::unknown;
  CHECK(checks_of(subnet).counts.at(Issue::m_key_shown) == 0);
  subnet.port(2).state = ib::PortState::active;
  SmSettings settings = locked();
  settings.m_key = false;
  only(checks_of(subnet, settings), Issue::keys, 1);
}

TEST_CASE(
    "a switch has to enforce both ways and to have a table; what it does not say is unknown") {
  for (int missing = 0; missing < 3; ++missing) {
    TestSubnet subnet(2);
    auto& enforcement = *subnet.port(1).switch_port->enforcement;
    if (missing == 0) enforcement.partition_cap = 0;
    if (missing == 1) enforcement.inbound = false;
    if (missing == 2) enforcement.outbound = false;
    const std::string text = only(checks_of(subnet), Issue::not_enforced, 1);
    CHECK(has(text,
              "1 port on a switch that does not enforce partitions (switch 00:02:c9:03:00:ff:00:00 "
              "(\"leaf\")): "));
  }
  TestSubnet subnet(3);
  subnet.port(1).switch_port->enforcement.reset();
  subnet.port(2).switch_port.reset();
  only(checks_of(subnet), Issue::enforcement_unknown, 2);
}

TEST_CASE("another subnet manager is a finding, whatever state it reports") {
  struct Case {
    mad::Outcome<mad::SmInfo> info;
    std::string_view text;
  };
  const Case cases[] = {
      {info(mad::SmState::standby, 3), "is standby, priority 3: if it"},
      {info(mad::SmState::master, 9), "is master, priority 9: the part"},
      {info(mad::SmState::discovering), "is discovering the subnet, priority 0"},
      {info(mad::SmState::not_active), "is not active"},
      {mad::Failure{}, "does not report its state (timeout)"},
  };
  for (const Case& test : cases) {
    TestSubnet subnet(2);
    subnet.contents.managers.push_back({diagnose::test::host(1), test.info});
    const std::string text = only(checks_of(subnet), Issue::other_manager, 1);
    CHECK(has(text, "00:02:c9:03:00:00:00:02 (\"h1 mlx5_0\"): another subnet manager "));
    CHECK(has(text, test.text));
  }
}

TEST_CASE("what was not seen is reported, and a subnet that was not scanned is not clean") {
  TestSubnet subnet(3);
  subnet.contents.duplicates = {diagnose::test::host(2)};
  CHECK(has(only(checks_of(subnet), Issue::duplicate, 1), "1 GUID found at two ports: 00:02"));
  subnet.contents.duplicates.clear();
  subnet.contents.unanswered = {
      {.path = mad::Route::along({1, 7}).value(), .port = 3, .why = {mad::Reason::timeout}}};
  subnet.contents.unanswered_count = 5;
  CHECK(has(only(checks_of(subnet), Issue::unseen, 5), "path 0,1,7 port 3 (timeout)"));
  subnet.contents.unanswered_count = 0;
  subnet.contents.unanswered.clear();
  subnet.contents.truncated = true;
  CHECK(has(only(checks_of(subnet), Issue::unseen, 1), "more nodes, or longer paths, than"));
  subnet.contents.truncated = false;
  subnet.tables.erase(diagnose::test::host(1));
  CHECK(has(only(checks_of(subnet), Issue::unread, 1), "(\"h1 mlx5_0\")"));
  subnet.contents = {};
  CHECK(has(only(checks_of(subnet), Issue::not_discovered, 1), "has not been scanned yet"));
}

TEST_CASE("conflicting requests of partitions are reported") {
  TestSubnet subnet(2);
  subnet.add({.name = "blue",
              .pkey = ib::PKey(1),
              .members = {{diagnose::test::host(1), Membership::both}}});
  CHECK(checks_of(subnet).issues.empty());
  SmSettings settings = locked();
  settings.allow_both = false;
  CHECK(has(only(checks_of(subnet, settings), Issue::both, 1), "blue: has members"));
  subnet.partitions.pop_back();
  for (const auto& [name, key] : {std::pair{"blue", 1}, std::pair{"red", 2}}) {
    subnet.add({.name = name,
                .pkey = ib::PKey(static_cast<uint16_t>(key)),
                .index0 = true,
                .members = {{diagnose::test::host(1), Membership::full}}});
  }
  CHECK(has(only(checks_of(subnet), Issue::index0, 1), "(\"h1 mlx5_0\"): blue, red"));
}

TEST_CASE("each kind of finding that an engine can have is one of the issues, with its count") {
  TestSubnet subnet(2);
  for (int n = 0; n <= static_cast<int>(engine::kLastEngineFinding); ++n) {
    CAPTURE(n);
    engine::EngineStatus status = standing();
    status.findings = {{static_cast<engine::EngineFinding::Kind>(n), 3, "UFM", "it is so", "do"}};
    const HealthChecks checks = checks_of(subnet, locked(), status);
    REQUIRE(checks.issues.size() == 1);
    CHECK(checks.issues.front().text == "it is so");
    size_t sum = 0;
    for (const auto& [issue, count] : checks.counts) sum += count;
    CHECK(sum == 3);
    CHECK(checks.counts.at(Issue::engine) == 0);
  }
}

TEST_CASE("a subnet manager that does not serve comes first, with its own words") {
  TestSubnet subnet(2);
  subnet.contents.duplicates = {diagnose::test::host(1)};
  for (int each = 0; each <= static_cast<int>(engine::Health::stuck); ++each) {
    const engine::Health health = static_cast<engine::Health>(each);
    CAPTURE(engine::name(health));
    const HealthChecks checks = checks_of(subnet, locked(), standing(health, "it is so"));
    CHECK(checks.counts.at(Issue::engine) == (health == engine::Health::serving ? 0 : 1));
    if (health == engine::Health::serving) continue;
    CHECK(has(checks.issues.front().text, std::string(engine::name(health)) + ": it is so: "));
  }
  subnet.contents.duplicates.clear();
  engine::EngineStatus shared = standing();
  shared.shared_cgroup = "OpenSM shares the cgroup of ibpod-sm";
  CHECK(
      has(only(checks_of(subnet, locked(), shared), Issue::shared_limit, 1), "shares the cgroup"));
  engine::EngineStatus open = standing();
  open.start_refused = "m_key: /m_key has mode 0644";
  CHECK(has(only(checks_of(subnet, locked(), open), Issue::start_refused, 1),
            "does not start it again: m_key: /m_key has mode 0644"));
  engine::EngineStatus full = standing();
  full.full_tables = 2;
  CHECK(has(only(checks_of(subnet, locked(), full), Issue::full_table, 2),
            "2 times since the start"));
  engine::EngineStatus lost = standing();
  lost.enforcement_lost = 1;
  CHECK(has(only(checks_of(subnet, locked(), lost), Issue::enforcement_lost, 1),
            "1 time since the start"));
}

}  // namespace
}  // namespace ibpod::sm::diagnose
