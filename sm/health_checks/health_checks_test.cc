#include "sm/health_checks/health_checks.h"

#include "sm/tables/test_snapshot.h"

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

using fabric::Membership;
using fabric::PortGroup;
using test::host;
using test::KnownSubnet;

Standing standing(Health health = Health::serving, const std::string& trouble = "") {
  Standing made;
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

Posture look(KnownSubnet& subnet, const SmSettings& settings = locked(),
             const Standing& engine = standing()) {
  return posture_of(subnet.evidence(), engine, settings);
}

// The only finding; what is counted, and how much.
std::string only(const Posture& posture, Weakness weakness, size_t count) {
  for (const auto& [each, found] : posture.counts) {
    CAPTURE(name(each));
    CHECK(found == (each == weakness ? count : 0));
  }
  REQUIRE(posture.findings.size() == 1);
  const fabricapi::Finding& finding = posture.findings.front();
  CHECK_FALSE(finding.subject.empty());
  CHECK_FALSE(finding.remedy.empty());
  return finding.subject + ": " + finding.text;
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a fabric that is locked has no findings, and counts of 0 for all that is looked at") {
  KnownSubnet subnet(3);
  const Posture posture = look(subnet);
  for (const fabricapi::Finding& finding : posture.findings) FAIL_CHECK(finding.text);
  CHECK(posture.counts.size() == static_cast<size_t>(kLastWeakness) + 1);
  std::set<std::string_view> names;
  for (const auto& [weakness, count] : posture.counts) {
    CHECK(count == 0);
    CHECK(names.insert(name(weakness)).second);
  }
}

TEST_CASE("a default partition in which everybody is full opens everything") {
  KnownSubnet subnet(2);
  for (const Membership membership : {Membership::full, Membership::both}) {
    subnet.partitions[0].members = {{PortGroup::all, membership}};
    CHECK(has(only(look(subnet), Weakness::default_rule, 1), "its rule makes every port a full"));
  }
  subnet.partitions[0].members = {{PortGroup::all, Membership::limited},
                                  {host(1), Membership::full}};
  CHECK(look(subnet).findings.empty());
}

TEST_CASE("full members of the default partition are counted as their tables say, three named") {
  KnownSubnet subnet(6);
  for (const unsigned n : {1U, 2U, 4U, 5U}) subnet.hold(n, {test::kLimited, ib::kDefaultFull});
  const std::string text = only(look(subnet), Weakness::default_full, 4);
  CHECK(has(text, "4 ports beside the subnet manager's hold 0xffff"));
  CHECK(has(text, "(\"h1 mlx5_0\"), 00:02:c9:03:00:00:00:03 (\"h2 mlx5_0\"), "));
  CHECK(has(text, "(\"h4 mlx5_0\") and 1 more"));
}

TEST_CASE("keys that everybody knows are named; of those of others nothing is known") {
  KnownSubnet subnet(1);
  SmSettings settings = locked();
  settings.m_key = false;
  CHECK(has(only(look(subnet, settings), Weakness::keys, 1), "m_key: is OpenSM's standard one"));
  settings = locked();
  settings.sm_key = false;
  CHECK(has(only(look(subnet, settings), Weakness::keys, 1), "sm_key: is OpenSM's standard one"));
  settings = locked();
  settings.sa_key.reset();
  CHECK(has(only(look(subnet, settings), Weakness::keys, 1), "sa_key: is not known to ibpod-sm"));
}

TEST_CASE("M_Key protection is what the ports show, and nothing without an M_Key") {
  KnownSubnet subnet(3);
  subnet.port(1).m_key_protection = 0;
  CHECK(has(only(look(subnet), Weakness::m_key_shown, 1), "1 port at level 0"));
  subnet.port(1).m_key_protection = 1;
  CHECK(has(only(look(subnet), Weakness::readable, 1), "1 port at level 1"));
  subnet.port(1).m_key_protection = 3;
  subnet.port(2).m_key_protection = 0;
  subnet.port(2).state = ib::PortState::unknown;
  CHECK(look(subnet).counts.at(Weakness::m_key_shown) == 0);
  subnet.port(2).state = ib::PortState::active;
  SmSettings settings = locked();
  settings.m_key = false;
  only(look(subnet, settings), Weakness::keys, 1);
}

TEST_CASE(
    "a switch has to enforce both ways and to have a table; what it does not say is unknown") {
  for (int missing = 0; missing < 3; ++missing) {
    KnownSubnet subnet(2);
    auto& enforcement = *subnet.port(1).leaf->enforcement;
    if (missing == 0) enforcement.places = 0;
    if (missing == 1) enforcement.inbound = false;
    if (missing == 2) enforcement.outbound = false;
    const std::string text = only(look(subnet), Weakness::not_enforced, 1);
    CHECK(has(text,
              "1 port whose switch does not enforce partitions (of the switch "
              "00:02:c9:03:00:ff:00:00 (\"leaf\")): "));
  }
  KnownSubnet subnet(3);
  subnet.port(1).leaf->enforcement.reset();
  subnet.port(2).leaf.reset();
  only(look(subnet), Weakness::enforcement_unknown, 2);
}

TEST_CASE("another subnet manager is a finding, whatever it says of itself") {
  struct Case {
    mad::Outcome<mad::SmInfo> info;
    std::string_view told;
  };
  const Case cases[] = {
      {info(mad::SmState::standby, 3), "stands by, priority 3: when it"},
      {info(mad::SmState::master, 9), "is master, priority 9: the part"},
      {info(mad::SmState::discovering), "is discovering the subnet, priority 0"},
      {info(mad::SmState::not_active), "is not active"},
      {mad::Failure{}, "does not say what it is (timeout)"},
  };
  for (const Case& test : cases) {
    KnownSubnet subnet(2);
    subnet.contents.managers.push_back({host(1), test.info});
    const std::string text = only(look(subnet), Weakness::rival, 1);
    CHECK(has(text, "00:02:c9:03:00:00:00:02 (\"h1 mlx5_0\"): another subnet manager "));
    CHECK(has(text, test.told));
  }
}

TEST_CASE("what was not seen is told, and a subnet nobody has looked at is not clean") {
  KnownSubnet subnet(3);
  subnet.contents.duplicates = {host(2)};
  CHECK(has(only(look(subnet), Weakness::duplicate, 1), "1 GUID met at two places: 00:02"));
  subnet.contents.duplicates.clear();
  subnet.contents.unseen = {
      {.path = mad::Route::along({1, 7}).value(), .port = 3, .why = {mad::Reason::timeout}}};
  subnet.contents.unseen_count = 5;
  CHECK(has(only(look(subnet), Weakness::unseen, 5), "path 0,1,7 port 3 (timeout)"));
  subnet.contents.unseen_count = 0;
  subnet.contents.unseen.clear();
  subnet.contents.cut_off = true;
  CHECK(has(only(look(subnet), Weakness::unseen, 1), "more nodes, or longer paths, than"));
  subnet.contents.cut_off = false;
  subnet.tables.erase(host(1));
  CHECK(has(only(look(subnet), Weakness::unread, 1), "(\"h1 mlx5_0\")"));
  subnet.contents = {};
  CHECK(has(only(look(subnet), Weakness::not_looked, 1), "has not been seen yet"));
}

TEST_CASE("what partitions ask for and cannot have is told") {
  KnownSubnet subnet(2);
  subnet.add({.name = "blue", .pkey = ib::PKey(1), .members = {{host(1), Membership::both}}});
  CHECK(look(subnet).findings.empty());
  SmSettings settings = locked();
  settings.allow_both = false;
  CHECK(has(only(look(subnet, settings), Weakness::both, 1), "blue: has members"));
  subnet.partitions.pop_back();
  for (const auto& [name, key] : {std::pair{"blue", 1}, std::pair{"red", 2}}) {
    subnet.add({.name = name,
                .pkey = ib::PKey(static_cast<uint16_t>(key)),
                .index0 = true,
                .members = {{host(1), Membership::full}}});
  }
  CHECK(has(only(look(subnet), Weakness::index0, 1), "(\"h1 mlx5_0\"): blue, red"));
}

TEST_CASE("a subnet manager that does not serve comes first, with its own words") {
  KnownSubnet subnet(2);
  subnet.contents.duplicates = {host(1)};
  for (int each = 0; each <= static_cast<int>(Health::stuck); ++each) {
    const Health health = static_cast<Health>(each);
    CAPTURE(name(health));
    const Posture posture = look(subnet, locked(), standing(health, "it is so"));
    CHECK(posture.counts.at(Weakness::engine) == (health == Health::serving ? 0 : 1));
    if (health == Health::serving) continue;
    CHECK(has(posture.findings.front().text, std::string(name(health)) + ": it is so: "));
  }
  subnet.contents.duplicates.clear();
  Standing shared = standing();
  shared.shared_cgroup = "OpenSM shares the cgroup of ibpod-sm";
  CHECK(has(only(look(subnet, locked(), shared), Weakness::shared_limit, 1), "shares the cgroup"));
  Standing open = standing();
  open.start_refused = "m_key: /m_key has mode 0644";
  CHECK(has(only(look(subnet, locked(), open), Weakness::start_refused, 1),
            "does not start it again: m_key: /m_key has mode 0644"));
  Standing full = standing();
  full.full_tables = 2;
  CHECK(
      has(only(look(subnet, locked(), full), Weakness::full_table, 2), "2 times since the start"));
  Standing lost = standing();
  lost.enforcement_lost = 1;
  CHECK(has(only(look(subnet, locked(), lost), Weakness::enforcement_lost, 1),
            "1 time since the start"));
}

}  // namespace
}  // namespace ibpod::sm
