#include "sm/ufm/desired.h"

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using fabric::Member;
using fabric::Membership;

constexpr ib::Guid kA{0xa}, kB{0xb}, kC{0xc};

pool::PKeyPool pkeys() { return pool::PKeyPool::make({{0x10, 0x1f}}).value(); }

fabric::PartitionDefinition definition(uint16_t pkey, std::vector<Member> members) {
  fabric::PartitionDefinition made;
  made.name = "p" + std::to_string(pkey);
  made.pkey = ib::PKey(pkey);
  made.members = std::move(members);
  return made;
}

TEST_CASE("members have their own membership, and index 0 if the partition asks for it") {
  fabric::PartitionDefinition blue = definition(
      0x10, {{kA, Membership::full}, {kB, Membership::limited}, {kC, Membership::full, true}});
  blue.index0 = blue.ipoib = true;
  const auto desired =
      desired_of({fabric::default_definition(), blue, definition(0x11, {{kA}})}, pkeys()).value();
  REQUIRE(desired.size() == 2);
  const DesiredPartition& first = desired.at(ib::PKey(0x10));
  CHECK(first.ip_over_ib);
  CHECK(first.members == std::map<ib::Guid, MemberValues>{
                             {kA, {ib::Membership::full, true}},
                             {kB, {ib::Membership::limited, true}},
                             {kC, {ib::Membership::full, false}},
                         });
  const DesiredPartition& second = desired.at(ib::PKey(0x11));
  CHECK_FALSE(second.ip_over_ib);
  CHECK(*find_member(&second, kA) == MemberValues{});
  CHECK(find_member(&second, kB) == nullptr);
  CHECK(find_member(static_cast<const DesiredPartition*>(nullptr), kA) == nullptr);
}

TEST_CASE("the last entry of a port sets its membership, and each can claim index 0") {
  fabric::PartitionDefinition blue =
      definition(0x10, {{kA, Membership::full}, {kA, Membership::limited, true}});
  blue.index0 = true;
  CHECK(*find_member(&desired_of({blue}, pkeys()).value().at(ib::PKey(0x10)), kA) ==
        MemberValues{ib::Membership::limited, true});
}

TEST_CASE("the default partition is left out, whatever members it has") {
  CHECK(desired_of({fabric::default_definition()}, pkeys()).value().empty());
}

TEST_CASE("a partition without members is desired, too") {
  CHECK(desired_of({definition(0x10, {})}, pkeys()).value().at(ib::PKey(0x10)).members.empty());
}

TEST_CASE("definitions that UFM cannot have are refused, with the P_Key and the value") {
  const struct {
    std::vector<fabric::PartitionDefinition> definitions;
    std::string text;
  } cases[] = {
      {{definition(0x10, {{fabric::PortGroup::all_cas}})},
       "partition 0x0010: member ALL_CAS: UFM has no groups of ports; name each port by its GUID"},
      {{definition(0x10, {{kA, Membership::both}})},
       "partition 0x0010: member 0x000000000000000a: expected full or limited, got both, which UFM "
       "does not have"},
      {{definition(0x20, {{kA}})},
       "partition 0x0020: P_Keys of existing partitions are in no range of \"pkeys\": 0x0020; add "
       "ranges for them"},
      {{definition(0x10, {{kA}}), definition(0x10, {{kB}})},
       "partition 0x0010: another partition has the same P_Key"},
      {{definition(0x8010, {{kA}})},
       "partition 0x8010: 0x8010 has bit 15 set, which is the membership bit: write 0x0010"},
  };
  for (const auto& wrong : cases) {
    const auto refused = desired_of(wrong.definitions, pkeys());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::invalid);
    CHECK(refused.error().text() == wrong.text);
  }
}

}  // namespace
}  // namespace ibpod::sm::ufm
