#include "lib/fabric/partition_definition.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

PartitionDefinition blue() {
  PartitionDefinition definition;
  definition.name = "blue";
  definition.pkey = ib::PKey(0x10);
  definition.members = {{ib::Guid(0x17), Membership::full}};
  return definition;
}

// True if check() accepts the partition with one thing changed.
template <typename Change>
bool passes(const Change& change) {
  PartitionDefinition definition = blue();
  change(definition);
  return check(definition).ok();
}

TEST_CASE("each field has its limits") {
  CHECK(passes([](PartitionDefinition&) {}));
  CHECK(check(default_definition()));
  for (const char* name :
       {"", "a b", "a,b", "a=b", "a:b", "a;b", "a#b", "a\nb", "bl\xc3\xa4u", "Default"})
    CHECK_FALSE(passes([&](PartitionDefinition& p) { p.name = name; }));
  CHECK(passes([](PartitionDefinition& p) { p.name = "A.b_c-0"; }));
  CHECK(passes([](PartitionDefinition& p) { p.name = std::string(31, 'a'); }));
  CHECK_FALSE(passes([](PartitionDefinition& p) { p.name = std::string(32, 'a'); }));
  for (const int key : {0x0000, 0x8000, 0x8010, 0xffff, 0x7fff})
    CHECK_FALSE(
        passes([&](PartitionDefinition& p) { p.pkey = ib::PKey(static_cast<uint16_t>(key)); }));
  for (const int key : {0x0001, 0x7ffe})
    CHECK(passes([&](PartitionDefinition& p) { p.pkey = ib::PKey(static_cast<uint16_t>(key)); }));
}

TEST_CASE("a member's P_Key is refused with the partition's, which is right") {
  PartitionDefinition definition = blue();
  definition.pkey = ib::PKey(0x8010);
  const std::string text = check(definition).error().text();
  CHECK(text.ends_with("write 0x0010"));
  definition.pkey = ib::PKey::parse(text.substr(text.size() - 6)).value();
  CHECK(check(definition));
}

TEST_CASE("a group's flags have their limits, a partition's and its groups'") {
  for (const bool of_group : {false, true}) {
    const auto flags = [of_group](PartitionDefinition& p) -> GroupFlags& {
      return of_group ? p.groups.emplace_back().flags : p.group;
    };
    for (const int code : {0, 6})
      CHECK_FALSE(passes([&](PartitionDefinition& p) { flags(p).mtu = static_cast<Mtu>(code); }));
    for (const int code : {1, 5})
      CHECK(passes([&](PartitionDefinition& p) { flags(p).mtu = static_cast<Mtu>(code); }));
    for (const int code : {0, 1, 23})
      CHECK_FALSE(passes([&](PartitionDefinition& p) { flags(p).rate = static_cast<Rate>(code); }));
    for (const int code : {2, 22})
      CHECK(passes([&](PartitionDefinition& p) { flags(p).rate = static_cast<Rate>(code); }));
    CHECK_FALSE(passes([&](PartitionDefinition& p) { flags(p).sl = 16; }));
    CHECK(passes([&](PartitionDefinition& p) { flags(p).sl = 15; }));
    CHECK_FALSE(passes([&](PartitionDefinition& p) { flags(p).scopes = 1; }));
    CHECK(passes([&](PartitionDefinition& p) { flags(p).scopes = 0xfffe; }));
    CHECK_FALSE(passes([&](PartitionDefinition& p) { flags(p).flow_label = 0x100000; }));
    CHECK(passes([&](PartitionDefinition& p) { flags(p).flow_label = 0xfffff; }));
  }
}

TEST_CASE("a member is a port that can be") {
  for (const uint64_t guid : {uint64_t{0}, UINT64_MAX})
    CHECK_FALSE(passes([&](PartitionDefinition& p) {
      p.members.push_back({ib::Guid(guid), Membership::full});
    }));
  // Drawn at random by others.
  CHECK(passes([](PartitionDefinition& p) {
    p.members.push_back({ib::Guid(0x59cabb0097927460), Membership::full});
  }));
}

TEST_CASE("an index 0 is kept where the partition asks for it, by the last of its members") {
  const auto asks = [](std::vector<Member> members) {
    return [members](PartitionDefinition& p) {
      p.index0 = true;
      p.members = members;
    };
  };
  const Member takes{ib::Guid(0x17), Membership::full, false};
  const Member keeps{ib::Guid(0x18), Membership::full, true};
  CHECK(passes(asks({takes, keeps})));
  CHECK(passes(asks({keeps})));
  CHECK_FALSE(passes(asks({keeps, takes})));
  CHECK_FALSE(passes([&](PartitionDefinition& p) { p.members = {keeps}; }));
}

TEST_CASE("the default partition leaves the subnet manager a full member") {
  const Member all{PortGroup::all, Membership::limited}, self{PortGroup::self, Membership::full};
  const Member host{ib::Guid(0x17), Membership::limited};
  PartitionDefinition definition = default_definition();
  for (const auto& members : std::vector<std::vector<Member>>{{}, {host}, {all, self, host}}) {
    definition.members = members;
    CHECK(check(definition));
  }
  for (const auto& members : std::vector<std::vector<Member>>{{all}, {self, all}}) {
    definition.members = members;
    CHECK_FALSE(check(definition));
  }
}

TEST_CASE("a refusal says of which partition it speaks") {
  PartitionDefinition definition = blue();
  definition.group.sl = 16;
  CHECK(check(definition).error().text() == "partition 0x0010: sl: expected 0 to 15");
}

TEST_CASE("a rate is a code, in no order") {
  CHECK(gbps(Rate{2}) == "2.5");
  CHECK(gbps(kDefaultRate) == "10");
  CHECK(gbps(Rate{5}) == "5");
  CHECK(gbps(Rate{16}) == "100");
  CHECK(gbps(kLastRate) == "600");
  CHECK(gbps(Rate{23}) == "unknown");
}

TEST_CASE("a membership is a whole word") {
  for (const Membership membership : {Membership::limited, Membership::full, Membership::both})
    CHECK(parse_membership(name(membership)) == membership);
  for (const char* word : {"", "f", "fulll", "Full", " full"}) CHECK(!parse_membership(word));
}

TEST_CASE("a port is a GUID or a group, and reads back as it prints") {
  for (const PortGroup group : {PortGroup::all, PortGroup::all_cas, PortGroup::all_switches,
                                PortGroup::all_routers, PortGroup::self}) {
    CHECK(PortSpecifier::parse(PortSpecifier(group).text()).value() == PortSpecifier(group));
    CHECK(PortSpecifier(group) != PortSpecifier(ib::Guid(0)));
  }
  const PortSpecifier port(ib::Guid(0x0002c90300001234));
  CHECK(port.text() == "0x0002c90300001234");
  CHECK(PortSpecifier::parse("0x0002C90300001234").value() == port);
  CHECK(!port.group());
  const PortSpecifier odd(ib::Guid(0x59cabb0097927460));
  CHECK(PortSpecifier::parse(odd.text()).value() == odd);
}

}  // namespace
}  // namespace ibpod::fabric
