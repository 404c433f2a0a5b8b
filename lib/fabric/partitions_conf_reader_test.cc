#include "lib/fabric/partitions_conf.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

constexpr OpenSmOptions kAll{true, true};
const ib::Guid kFirst{0x0002c90300001234}, kSecond{0x0002c90300001235};

std::vector<PartitionDefinition> read(std::string_view text) {
  const auto definitions = read_partitions(text, kAll);
  if (!definitions) FAIL(definitions.error().text());
  return *definitions;
}

TEST_CASE("a partition is read with its name, key, flags and members") {
  const std::vector<PartitionDefinition> definitions = read(
      "blue=0x0010, indx0, ipoib, mtu=5, rate=7, sl=3, scope=2, scope=5, Q_Key=0xdeadbeef, "
      "TClass=7, "
      "FlowLabel=0xfffff, defmember=full : 0x0002c90300001234=limited, 0X0002C90300001235;");
  REQUIRE(definitions.size() == 1);
  PartitionDefinition blue;
  blue.name = "blue";
  blue.pkey = ib::PKey(0x10);
  blue.index0 = blue.ipoib = true;
  blue.group = {Mtu::mtu_4096, Rate{7}, 3, 1 << 2 | 1 << 5, 0xdeadbeef, 7, 0xfffff};
  blue.default_membership = Membership::full;
  blue.members = {{kFirst, Membership::limited}, {kSecond, Membership::full}};
  CHECK(definitions[0] == blue);
}

// OpenSM puts 0x8200 and 0x7fff into the table of such a port.
TEST_CASE("a member has whatever GUID its port was given") {
  const PartitionDefinition storage = read("hosts=0x0200, ipoib : 0x59cabb0097927460=full;").at(0);
  REQUIRE(storage.members.size() == 1);
  CHECK(storage.members[0] == Member{ib::Guid(0x59cabb0097927460), Membership::full});
}

TEST_CASE("what is not said is as OpenSM has it") {
  const PartitionDefinition definition = read("a=0x1:SELF;").at(0);
  CHECK(definition.group == GroupFlags{Mtu::mtu_2048, Rate{3}, 0, 0, 0, 0, 0});
  CHECK(!definition.ipoib);
  CHECK(!definition.index0);
  CHECK(definition.members == std::vector<Member>{{PortGroup::self, Membership::limited}});
}

TEST_CASE(
    "a definition goes on over lines, with and without commas at their ends, blanks and comments") {
  const std::vector<PartitionDefinition> definitions = read(
      "# first\n\ta = 0x1\t,ipoib : # the key\n\n 0x0002c90300001234 = full "
      ",\n\t0x0002c90300001235 # ; : , =\n"
      "SELF=both\n"
      "NONE ,; b=0x2:;c=0x3 : NONE;");
  REQUIRE(definitions.size() == 3);
  CHECK(definitions[0].members == std::vector<Member>{{kFirst, Membership::full},
                                                      {kSecond, Membership::limited},
                                                      {PortGroup::self, Membership::both}});
  CHECK(definitions[1].members.empty());
  CHECK(definitions[2].members.empty());
}

TEST_CASE("a partition without a name has its key for one") {
  CHECK(read("0x1f:SELF;").at(0).name == "001f");
  CHECK(read("=0x1f:SELF;").at(0).name == "001f");
  CHECK(read("10 G=0x1f:SELF;").at(0).name == "10 G");
}

TEST_CASE("definitions of one key come together where name and flags agree") {
  const std::vector<PartitionDefinition> definitions = read(
      "a=0x1,ipoib,defmember=full : 0x0002c90300001234;\nb=0x2:SELF;\na=0x1,ipoib : "
      "0x0002c90300001235;\n");
  REQUIRE(definitions.size() == 2);
  CHECK(definitions[0].default_membership == Membership::full);
  CHECK(definitions[0].members ==
        std::vector<Member>{{kFirst, Membership::full}, {kSecond, Membership::limited}});
}

TEST_CASE("a member that a definition without indx0 names keeps its index 0") {
  const std::vector<PartitionDefinition> definitions = read(
      "a=0x1,indx0,ipoib : 0x0002c90300001234;\na=0x1,ipoib : 0x0002c90300001235;\n"
      "b=0x2,indx0 : 0x0002c90300001235;");
  REQUIRE(definitions.size() == 2);
  CHECK(definitions[0].index0);
  CHECK(definitions[0].members == std::vector<Member>{{kFirst, Membership::limited, false},
                                                      {kSecond, Membership::limited, true}});
  CHECK(definitions[1].members == std::vector<Member>{{kSecond, Membership::limited, false}});
}

TEST_CASE("exceptions stand behind what they are exceptions of") {
  CHECK(read("Default=0x7fff : ALL, ALL_SWITCHES=full, 0x0002c90300001234=both, SELF=full;")
            .at(0)
            .members.size() == 4);
  CHECK(read("a=0x1 : 0x0002c90300001234, ALL;").at(0).members.size() == 2);
}

TEST_CASE("several partitions may ask for index 0, of different ports") {
  CHECK(read("a=0x1,indx0:0x0002c90300001234;b=0x2,indx0:0x0002c90300001235;c=0x3:ALL;").size() ==
        3);
}

TEST_CASE("the default partition has index 0 of the ports where no other behind it asks for it") {
  const auto definitions = read(
      "Default=0x7fff,indx0:ALL,SELF=full;a=0x1,indx0:0x0002c90300001234;b=0x2,indx0:"
      "0x0002c90300001235;");
  CHECK(definitions.size() == 3);
}

TEST_CASE("a multicast group has the flags of its partition and its own") {
  const PartitionDefinition definition =
      read(
          "a=0x1,mtu=5,sl=2,scope=2,Q_Key=7,TClass=9,FlowLabel=3:\n"
          "mgid=ff12:401b::16,\n"
          "mgid=ff12::1,sl=1,scope=5,mtu=4,rate=6,Q_Key=0,TClass=1\nSELF;")
          .at(0);
  REQUIRE(definition.groups.size() == 2);
  CHECK(definition.groups[0].flags == GroupFlags{Mtu::mtu_4096, Rate{3}, 2, 1 << 2, 7, 0, 3});
  CHECK(definition.groups[0].mgid == std::array<uint8_t, 16>{0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, 0,
                                                             0, 0, 0, 0, 0, 0, 0, 0, 0x16});
  CHECK(definition.groups[1].flags ==
        GroupFlags{Mtu::mtu_2048, Rate{6}, 1, 1 << 2 | 1 << 5, 0, 1, 3});
}

TEST_CASE("a whole file needs the default partition, part of one does not") {
  CHECK(read("").empty());
  CHECK(read_partitions_conf("a=0x1:SELF;Default=0x7fff:ALL;", {})->size() == 2);
  CHECK_FALSE(read_partitions_conf("a=0x1:SELF;", {}));
}

}  // namespace
}  // namespace ibpod::fabric
