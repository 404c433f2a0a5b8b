#include "sm/diagnose/plan.h"

#include "lib/fabricapi/fields.h"
#include "sm/diagnose/test_snapshot.h"

#include <doctest/doctest.h>

namespace ibpod::sm::diagnose {
namespace {

using diagnose::test::host;
using diagnose::test::TestSubnet;
using fabric::Membership;
using fabric::PartitionDefinition;
using fabric::PortGroup;
using Plan = v1::PlanResponse;

constexpr ib::PKey kBlue{0x0001}, kBlueFull{0x8001}, kRedFull{0x8002};
constexpr PlanOptions kTerms{.last_sweep = Duration(1500)};

PartitionDefinition blue(std::vector<fabric::Member> members) {
  return {.name = "blue", .pkey = kBlue, .members = std::move(members)};
}

Plan change(TestSubnet& subnet, const std::vector<PartitionDefinition>& after) {
  return plan_change(after, subnet.snapshot(), kTerms);
}

std::string row(ib::Guid guid, const std::string& description, const std::string& before,
                const std::string& after) {
  return guid.text() + " | " + description + " | " + before + " | " + after;
}
std::string row(const Plan::Port& port) {
  return row(ib::Guid(port.guid()), port.description(), port.before(), port.after());
}

bool noted(const Plan& plan, std::string_view part) {
  for (const std::string& note : plan.notes())
    if (note.find(part) != std::string::npos) return true;
  for (const std::string& note : plan.notes()) MESSAGE(note);
  return false;
}

TEST_CASE("only ports whose keys change are planned, with the table before and after") {
  TestSubnet subnet(4);
  const Plan plan = change(
      subnet, {subnet.partitions[0], blue({{diagnose::test::host(2), Membership::full},
                                           {diagnose::test::host(1), Membership::limited}})});
  REQUIRE(plan.ports_size() == 2);
  CHECK(row(plan.ports(0)) ==
        row(diagnose::test::host(1), "h1 mlx5_0", "0:0x7fff", "0:0x7fff 0x0001"));
  CHECK(row(plan.ports(1)) ==
        row(diagnose::test::host(2), "h2 mlx5_0", "0:0x7fff", "0:0x7fff 0x8001"));
  CHECK(plan.changed() == 2);
  CHECK(plan.unseen() == 0);
  CHECK(plan.packets() == 4);  // one block each of the port and of the switch port
  CHECK(plan.seconds() == doctest::Approx(1.5));
  CHECK(plan.notes().empty());
}

TEST_CASE("what changes nothing is empty and takes no time") {
  TestSubnet subnet(3);
  const Plan plan = change(subnet, {subnet.partitions[0], blue({})});
  CHECK(plan.ByteSizeLong() == 0);
}

TEST_CASE("a key leaves, and the rest of the table stays where it is") {
  TestSubnet subnet(3);
  subnet.add(blue({{diagnose::test::host(1), Membership::full}}));
  subnet.add({.name = "red",
              .pkey = ib::PKey(2),
              .members = {{diagnose::test::host(1), Membership::full}}});
  subnet.hold(1, {diagnose::test::kLimited, kBlueFull, kRedFull});
  const Plan plan = change(subnet, {subnet.partitions[0], subnet.partitions[2]});
  REQUIRE(plan.ports_size() == 1);
  CHECK(plan.ports(0).before() == "0:0x7fff 1:0x8001 2:0x8002");
  CHECK(plan.ports(0).after() == "0:0x7fff 2:0x8002");
  REQUIRE(plan.notes_size() == 1);
  CHECK(plan.notes(0) == "partition blue (0x0001) will be removed; 1 port will leave it");
}

TEST_CASE("the default key is back at index 0 where its rule says so, and else stays where it is") {
  TestSubnet subnet(2);
  subnet.add(blue({{diagnose::test::host(1), Membership::full}}));
  subnet.partitions[1].index0 = true;
  subnet.hold(1, {kBlueFull, diagnose::test::kLimited});
  std::vector<PartitionDefinition> after{subnet.partitions[0]};
  CHECK(change(subnet, after).ports(0).after() == "1:0x7fff");
  subnet.partitions[0].index0 = after[0].index0 = true;
  CHECK(change(subnet, after).ports(0).after() == "0:0x7fff");
}

TEST_CASE("a key whose index the subnet manager chooses has none, and index 0 is certain") {
  TestSubnet subnet(2);
  subnet.partitions[0].index0 = true;
  std::vector<PartitionDefinition> after{subnet.partitions[0],
                                         blue({{diagnose::test::host(1), Membership::full}})};
  CHECK(change(subnet, after).ports(0).after() == "0:0x7fff 0x8001");
  after[1].index0 = true;
  CHECK(change(subnet, after).ports(0).after() == "0:0x8001 0x7fff");
}

TEST_CASE("a port that has not been seen has keys without places, and counts as unseen") {
  TestSubnet subnet(2);
  subnet.tables.erase(diagnose::test::host(1));
  subnet.switch_tables.erase(diagnose::test::host(1));
  const Plan plan =
      change(subnet, {subnet.partitions[0], blue({{diagnose::test::host(1), Membership::full},
                                                  {diagnose::test::host(9), Membership::full}})});
  REQUIRE(plan.ports_size() == 2);
  CHECK(row(plan.ports(0)) == row(diagnose::test::host(1), "h1 mlx5_0", "", "0x7fff 0x8001"));
  CHECK(row(plan.ports(1)) == row(diagnose::test::host(9), "", "", "0x7fff 0x8001"));
  CHECK(plan.unseen() == 2);
  CHECK(plan.packets() == 0);
}

TEST_CASE("packets are blocks that differ: index 0 and a key in the second block are two") {
  TestSubnet subnet(2);
  subnet.add(blue({{diagnose::test::host(1), Membership::full}}));
  for (ReadTables* tables : {&subnet.tables, &subnet.switch_tables}) {
    ib::PKeyTable& keys = (*tables)[diagnose::test::host(1)].keys;
    keys[40] = kBlueFull;
  }
  std::vector<PartitionDefinition> after = subnet.partitions;
  after[1].index0 = true;
  CHECK(change(subnet, after).packets() == 4);
  subnet.switch_tables.erase(diagnose::test::host(1));
  CHECK(change(subnet, after).packets() == 4);  // as many as for the port
  subnet.port(1).switch_port->enforcement->partition_cap = 0;
  CHECK(change(subnet, after).packets() == 2);
  subnet.port(1).switch_port.reset();
  CHECK(change(subnet, after).packets() == 2);
}

TEST_CASE("a key without a place is no packet beside those that are certain") {
  TestSubnet subnet(2);
  subnet.add(blue({{diagnose::test::host(1), Membership::full}}));
  for (uint16_t key = 0x1001; key < 0x1020; ++key)
    subnet.add({.name = "p" + std::to_string(key),
                .pkey = ib::PKey(key),
                .members = {{diagnose::test::host(1), Membership::full}}});
  for (ReadTables* tables : {&subnet.tables, &subnet.switch_tables}) {
    ib::PKeyTable& keys = (*tables)[diagnose::test::host(1)].keys;
    keys.resize(96);
    for (uint16_t place = 1; place < 32; ++place) keys[place] = ib::PKey(0x9000 + place);
    keys[70] = kBlueFull;
  }
  std::vector<PartitionDefinition> after = subnet.partitions;
  after[1].pkey = ib::PKey(2);
  // Its third block must be written; the new key may be put there, instead of the second.
  CHECK(change(subnet, after).packets() == 2);
}

TEST_CASE("a switch port's table is not repaired if the switch does not enforce it") {
  TestSubnet subnet(2);
  subnet.add(blue({{diagnose::test::host(1), Membership::full}}));
  subnet.tables[diagnose::test::host(1)].keys[3] = kBlueFull;
  const auto changed = [&] {
    const FabricSnapshot snapshot = subnet.snapshot();
    return plan_pending(snapshot, {}).changed();
  };
  CHECK(changed() == 1);  // it lacks the key
  subnet.port(1).switch_port->enforcement->inbound = false;
  CHECK(changed() == 0);
  subnet.port(1).switch_port->enforcement->partition_cap = 0;
  subnet.switch_tables[diagnose::test::host(1)].keys.clear();
  CHECK(changed() == 0);
  const Plan more = change(subnet, {subnet.partitions[0],
                                    subnet.partitions[1],
                                    {.name = "red",
                                     .pkey = ib::PKey(2),
                                     .members = {{diagnose::test::host(1), Membership::full}}}});
  CHECK(more.packets() == 1);
  CHECK(more.notes().empty());
}

TEST_CASE("at which index a switch port holds a key is all the same") {
  TestSubnet subnet(2);
  PartitionDefinition first = blue({{diagnose::test::host(1), Membership::full}});
  first.index0 = true;
  subnet.add(first);
  subnet.tables[diagnose::test::host(1)].keys =
      TestSubnet::table({kBlueFull, diagnose::test::kLimited});
  subnet.switch_tables[diagnose::test::host(1)].keys =
      TestSubnet::table({diagnose::test::kLimited, kBlueFull});
  const FabricSnapshot snapshot = subnet.snapshot();
  CHECK(plan_pending(snapshot, {}).changed() == 0);
}

TEST_CASE("ports that lose the default partition are counted, and those in no other one") {
  TestSubnet subnet(4);
  subnet.partitions[0].members = {{PortGroup::all, Membership::full}};
  subnet.add(blue({{diagnose::test::host(1), Membership::full}}));
  std::vector<PartitionDefinition> after = subnet.partitions;
  after[0] = fabric::default_definition();
  const Plan closing = change(subnet, after);
  CHECK(closing.changed() == 4);  // three hosts and the switch
  CHECK(noted(closing,
              "4 ports will no longer be full members of the default partition, 3 of them "
              "in no other partition"));
  std::swap(subnet.partitions, after);
  CHECK(noted(change(subnet, after), "4 ports will be full members of the default partition"));
}

TEST_CASE("what does not fit, index 0 claimed twice and groups that stay are noted") {
  TestSubnet subnet(3);
  subnet.tables[diagnose::test::host(1)].keys = {diagnose::test::kLimited, kRedFull};
  PartitionDefinition before = blue(
      {{diagnose::test::host(1), Membership::full}, {diagnose::test::host(2), Membership::full}});
  before.ipoib = true;
  subnet.add({.name = "red",
              .pkey = ib::PKey(2),
              .index0 = true,
              .members = {{diagnose::test::host(1), Membership::full},
                          {diagnose::test::host(2), Membership::full}}});
  subnet.add(before);
  before.index0 = true;
  before.group.mtu = fabric::Mtu::mtu_4096;
  const Plan plan = change(subnet, {subnet.partitions[0], subnet.partitions[1], before});
  CHECK(plan.ports(0).after() == "0x7fff 0x8001 0x8002");
  CHECK(noted(plan, "1 port with more keys than the P_Key table"));
  CHECK(noted(plan, "(\"h2 mlx5_0\"): more than one partition claims index 0"));
  CHECK(noted(plan, "the IPoIB broadcast group of blue keeps its parameters"));
}

TEST_CASE("of many ports the first are listed, and all are counted") {
  TestSubnet subnet(1200);
  const Plan plan = change(
      subnet,
      {subnet.partitions[0],
       {.name = "all", .pkey = ib::PKey(7), .members = {{PortGroup::all_cas, Membership::full}}}});
  CHECK(plan.ports_size() == fabricapi::kMostPlanned);
  CHECK(plan.changed() == 1200);
  CHECK(plan.packets() == 2400);
}

TEST_CASE("what is left to do is what tables lack, the switches' too; what is unread is counted") {
  TestSubnet subnet(5);
  CHECK(plan_pending(subnet.snapshot(), kTerms).ByteSizeLong() == 0);
  subnet.add(blue({{diagnose::test::host(1), Membership::full}}));
  subnet.hold(2, {diagnose::test::kLimited, kRedFull});
  subnet.switch_tables[diagnose::test::host(3)].keys[5] = kRedFull;
  subnet.tables.erase(diagnose::test::host(4));
  const Plan plan = plan_pending(subnet.snapshot(), kTerms);
  REQUIRE(plan.ports_size() == 3);
  CHECK(plan.ports(0).after() == "0:0x7fff 0x8001");
  CHECK(plan.ports(1).before() == "0:0x7fff 1:0x8002");
  CHECK(plan.ports(1).after() == "0:0x7fff");
  CHECK(plan.ports(2).before() == plan.ports(2).after());
  CHECK(plan.unseen() == 1);
  CHECK(plan.packets() == 5);
}

TEST_CASE("what is not known is said: the subnet, its sweeps, who writes") {
  TestSubnet subnet(2);
  const std::vector<PartitionDefinition> after{subnet.partitions[0],
                                               blue({{diagnose::test::host(1), Membership::full}})};
  CHECK(noted(plan_change(after, subnet.snapshot(), {}), "has been timed"));
  CHECK(noted(plan_change(after, subnet.snapshot(), {.writes = false}), "only observes"));
  const auto unseen_sweeps = plan_change(after, subnet.snapshot(), {.follows_sweeps = false});
  CHECK(noted(unseen_sweeps, "shows when it has stored a change, not when"));
  CHECK_FALSE(noted(unseen_sweeps, "has been timed"));
  subnet.contents.unanswered_count = 1;
  CHECK(noted(change(subnet, after), "the last scan of the subnet is incomplete"));
  subnet.contents = {};
  subnet.tables.clear();
  CHECK(noted(change(subnet, after), "has not been scanned yet"));
}

}  // namespace
}  // namespace ibpod::sm::diagnose
