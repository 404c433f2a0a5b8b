#include "sm/diagnose/explain.h"

#include "sm/diagnose/test_snapshot.h"

#include <doctest/doctest.h>

namespace ibpod::sm::diagnose {
namespace {

using diagnose::test::host;
using diagnose::test::TestSubnet;
using fabric::Membership;
using fabricapi::Explanation;
using Sentences = std::vector<std::string>;

constexpr ib::PKey kBlue{0x0001}, kBlueFull{0x8001}, kRedFull{0x8002};
const std::string kNoneBut = "a/web and b/db share only the default partition";
const std::string kDefaultNo =
    "Default (0x7fff): no: both are limited members; at least one must be full";

fabric::PartitionDefinition blue(Membership one, Membership other) {
  return {.name = "blue",
          .pkey = kBlue,
          .members = {{diagnose::test::host(1), one}, {diagnose::test::host(2), other}}};
}

// Host 1 is a/web, host 2 is b/db.
Explanation both(TestSubnet& subnet) {
  return explain({{"a/web", {{diagnose::test::host(1)}}}, {"b/db", {{diagnose::test::host(2)}}}},
                 subnet.snapshot());
}

Sentences findings(TestSubnet& subnet,
                   const Subject::PortOfSubject& port = {diagnose::test::host(1)}) {
  return findings_of(port, subnet.snapshot());
}

TEST_CASE("a port that is as it should be is shown, without findings") {
  TestSubnet subnet(2);
  subnet.add(blue(Membership::full, Membership::limited));
  subnet.hold(1, {diagnose::test::kLimited, kBlueFull});
  subnet.tables[diagnose::test::host(1)].seen = fabric::WallTime(std::chrono::milliseconds(7));
  const Explanation explanation =
      explain({{"a/web", {{diagnose::test::host(1)}}}}, subnet.snapshot());
  REQUIRE(explanation.subjects.size() == 1);
  CHECK(explanation.reach.empty());
  const Explanation::Subject& subject = explanation.subjects[0];
  CHECK(subject.name == "a/web");
  CHECK(subject.guid == diagnose::test::host(1));
  CHECK(subject.description == "h1 mlx5_0");
  CHECK(subject.table == "0:0x7fff 1:0x8001");
  CHECK(subject.leaf_table == subject.table);
  CHECK(subject.wanted == "0x7fff 0x8001");
  CHECK(subject.seen == fabric::WallTime(std::chrono::milliseconds(7)));
  CHECK(subject.findings == Sentences{});
}

TEST_CASE("what is wrong with a port is explained in sentences") {
  TestSubnet subnet(3);
  subnet.add(blue(Membership::full, Membership::limited));
  CHECK(findings(subnet) ==
        Sentences{"its P_Key table lacks 0x8001", "its switch port's P_Key table lacks 0x8001"});
  subnet.hold(1, {diagnose::test::kLimited, kBlueFull});
  CHECK(findings(subnet).empty());
  subnet.port(1).switch_port->enforcement->inbound = false;
  CHECK(findings(subnet) ==
        Sentences{"its switch does not enforce partitions: only the adapter does"});
  subnet.port(1).switch_port->enforcement.reset();
  CHECK(findings(subnet) == Sentences{"it is not known if its switch enforces partitions"});
  subnet.port(1).switch_port->enforcement = {
      .partition_cap = 64, .inbound = true, .outbound = true};
  subnet.switch_tables.erase(diagnose::test::host(1));
  CHECK(findings(subnet) == Sentences{"its switch port's P_Key table is not known"});
  subnet.hold(1, {diagnose::test::kLimited, kBlueFull});
  subnet.tables.erase(diagnose::test::host(1));
  CHECK(findings(subnet) == Sentences{"its P_Key table is not known"});
  subnet.hold(1, {diagnose::test::kLimited, kBlueFull});
  subnet.port(1).state = ib::PortState::down;
  CHECK(findings(subnet) == Sentences{"its port is DOWN: it carries no traffic"});
  subnet.port(1).state = ib::PortState::unknown;
  CHECK(findings(subnet) == Sentences{"the state of its port is not known"});
  subnet.port(1).state = ib::PortState::active;
  subnet.contents.duplicates = {diagnose::test::kSwitch};
  CHECK(
      findings(subnet).at(0) ==
      "its GUID or the GUID of its switch exists twice: what was read may belong to another port");
}

TEST_CASE("a port that was not seen is not said to be absent where not all was seen") {
  TestSubnet subnet(1);
  CHECK(findings(subnet, {diagnose::test::host(9)})
            .at(0)
            .find("no port of the subnet has this GUID") == 0);
  subnet.contents.unanswered_count = 1;
  CHECK(findings(subnet, {diagnose::test::host(9)}).at(0) ==
        "no port with this GUID was found, but the last scan is incomplete");
  subnet.contents = {};
  CHECK(findings(subnet, {diagnose::test::host(9)}).at(0) == "the subnet has not been scanned yet");
}

TEST_CASE("a virtual port is on no subnet, and its node's report shows it") {
  TestSubnet subnet(1);
  const ib::Guid vport(0x0200000000000001);
  const auto explained = [&](bool serves_vports) {
    FabricSnapshot snapshot = subnet.snapshot();
    snapshot.serves_vports = serves_vports;
    return findings_of({vport}, snapshot);
  };
  CHECK(explained(false).at(0).find("the subnet manager does not serve those") !=
        std::string::npos);
  CHECK(explained(true).at(0).find("whose table its node has not reported") != std::string::npos);
  subnet.tables[vport] = {.keys = TestSubnet::table({diagnose::test::kLimited}),
                          .by = fabric::Proof::node};
  CHECK(explained(false).at(0).find("the subnet manager does not serve those") !=
        std::string::npos);
  CHECK(explained(true).empty());
  // The port itself cannot have been read where no scan finds it: it was there, and has gone.
  subnet.tables[vport].by = fabric::Proof::port;
  CHECK_FALSE(explained(true).empty());
}

TEST_CASE("a binding that is not verified says why, and one that changes says so") {
  TestSubnet subnet(2);
  fabric::Binding binding;
  binding.state = fabric::BindingState::unknown;
  binding.condition = {fabric::Reason::timeout, "the port did not answer"};
  binding.desired = {{"blue", Membership::full}};
  CHECK(findings(subnet, {diagnose::test::host(1), binding}) ==
        Sentences{"its binding is unknown, timeout: the port did not answer",
                  "its partitions are changing: the old keys must leave its table before new "
                  "ones come"});
  binding.state = fabric::BindingState::verified;
  binding.applied = binding.desired;
  CHECK(findings(subnet, {diagnose::test::host(1), binding}).empty());
}

TEST_CASE("two reach each other where both tables hold the key and one of them is full") {
  struct Case {
    Membership one, other;
    std::string told;
  };
  const Case cases[] = {
      {Membership::full, Membership::full,
       "blue (0x0001): yes: a/web is a full member, b/db is a full member"},
      {Membership::limited, Membership::full,
       "blue (0x0001): yes: a/web is a limited member, b/db is a full member"},
      {Membership::both, Membership::limited,
       "blue (0x0001): yes: a/web is a full and limited member, b/db is a limited member"},
      {Membership::limited, Membership::limited,
       "blue (0x0001): no: both are limited members; at least one must be full"},
  };
  for (const Case& test : cases) {
    TestSubnet subnet(3);
    subnet.add(blue(test.one, test.other));
    const verify::DesiredKeys desired(subnet.partitions);
    for (const unsigned n : {1U, 2U}) {
      ib::PKeyTable keys = desired.of({.guid = diagnose::test::host(n)}).keys;
      subnet.tables[diagnose::test::host(n)].keys =
          subnet.switch_tables[diagnose::test::host(n)].keys = keys;
    }
    CHECK(both(subnet).reach == Sentences{test.told, kDefaultNo});
  }
}

TEST_CASE("what is wanted and not there is not yes, nor what is not known") {
  TestSubnet subnet(3);
  subnet.add(blue(Membership::full, Membership::full));
  subnet.hold(1, {diagnose::test::kLimited, kBlueFull});
  const auto reach = [&] { return both(subnet).reach.at(0); };
  CHECK(reach() ==
        "blue (0x0001): not now: the P_Key table of b/db lacks the key, which it should have");
  subnet.tables.erase(diagnose::test::host(2));
  CHECK(reach() == "blue (0x0001): not known: the P_Key table of b/db has not been read");
  subnet.hold(2, {diagnose::test::kLimited, kBlueFull});
  subnet.switch_tables[diagnose::test::host(1)].keys =
      TestSubnet::table({diagnose::test::kLimited});
  CHECK(reach() ==
        "blue (0x0001): not now: the switch port of a/web enforces partitions and lacks the key");
  subnet.switch_tables.erase(diagnose::test::host(1));
  CHECK(reach() ==
        "blue (0x0001): not known: the P_Key table of the switch port of a/web has not been read");
  subnet.port(1).switch_port->enforcement = {
      .partition_cap = 64, .inbound = false, .outbound = false};
  CHECK(reach() == "blue (0x0001): yes: a/web is a full member, b/db is a full member");
  subnet.port(2).state = ib::PortState::init;
  CHECK(reach() == "blue (0x0001): not now: the port of b/db is INIT");
  subnet.contents.duplicates = {diagnose::test::host(1)};
  CHECK(reach() == "blue (0x0001): not known: the GUID of a/web or of its switch exists twice");
}

TEST_CASE("a full key that is not there yet is no fault of the partition's") {
  TestSubnet subnet(3);
  subnet.add(blue(Membership::limited, Membership::full));
  for (const unsigned n : {1U, 2U}) subnet.hold(n, {diagnose::test::kLimited, kBlue});
  CHECK(both(subnet).reach.at(0) ==
        "blue (0x0001): not now: the P_Key table of b/db holds only the limited key");
}

TEST_CASE("switch ports whose keys are limited let two full members not through") {
  TestSubnet subnet(3);
  subnet.add(blue(Membership::full, Membership::full));
  for (const unsigned n : {1U, 2U}) {
    subnet.hold(n, {diagnose::test::kLimited, kBlueFull});
    subnet.switch_tables[diagnose::test::host(n)].keys =
        TestSubnet::table({diagnose::test::kLimited, kBlue});
  }
  CHECK(both(subnet).reach.at(0) ==
        "blue (0x0001): not now: the switch ports of both hold only the limited key");
}

TEST_CASE("foreign keys give a yes that should not be") {
  TestSubnet subnet(3);
  CHECK(both(subnet).reach == Sentences{kNoneBut, kDefaultNo});
  for (const unsigned n : {1U, 2U}) subnet.hold(n, {ib::kDefaultFull, kRedFull});
  CHECK(both(subnet).reach ==
        Sentences{
            "0x0002 (unknown to ibpod-sm): yes: a/web is a full member, which it should not be, "
            "b/db is a full member, which it should not be",
            "Default (0x7fff): yes: a/web is a full member, which it should not be, b/db is "
            "a full member, which it should not be"});
  // A partition of only one of them is not mentioned.
  subnet.hold(2, {diagnose::test::kLimited});
  subnet.hold(1, {diagnose::test::kLimited, kRedFull});
  CHECK(both(subnet).reach == Sentences{kNoneBut, kDefaultNo});
}

TEST_CASE("pods with several ports are compared port by port; one without any is reported") {
  TestSubnet subnet(4);
  const Explanation explanation =
      explain({{"a/web", {{diagnose::test::host(1)}, {diagnose::test::host(3)}}},
               {"b/db", {{diagnose::test::host(2)}}}},
              subnet.snapshot());
  CHECK(explanation.subjects.size() == 3);
  REQUIRE(explanation.reach.size() == 4);
  CHECK(explanation.reach[2] ==
        "a/web (00:02:c9:03:00:00:00:04) and b/db share only the default "
        "partition");
  const Explanation no_callback =
      explain({{"a/web", {{diagnose::test::host(1)}}}, {"b/none", {}}}, subnet.snapshot());
  REQUIRE(no_callback.subjects.size() == 2);
  CHECK(no_callback.subjects[1].findings == Sentences{"it has no port on this subnet"});
  CHECK(no_callback.reach.empty());
  CHECK(explain({{"a", {{diagnose::test::host(1)}}}, {"b", {{diagnose::test::host(1)}}}},
                subnet.snapshot())
            .reach.at(0) == "a and b use the same port and its P_Key table");
}

}  // namespace
}  // namespace ibpod::sm::diagnose
