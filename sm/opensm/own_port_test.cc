#include "sm/opensm/own_port.h"

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

using fabric::PortGroup;

constexpr ib::Guid kOwn{0x01}, kOther{0x02};

// A partition that takes index 0, with this member.
std::vector<fabric::PartitionDefinition> with(const fabric::Member& member) {
  fabric::PartitionDefinition blue;
  blue.pkey = ib::PKey(1);
  blue.index0 = true;
  blue.members = {member};
  return {blue};
}

TEST_CASE("no partition but the default one takes index 0 of the subnet manager's own port") {
  const Status refused = check_own_port(with({kOwn}), kOwn);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text().find("partition 0x0001") != std::string::npos);
  auto definitions = with({kOwn});
  SUBCASE("another port") { definitions = with({kOther}); }
  SUBCASE("at another index") { definitions.front().index0 = false; }
  SUBCASE("a member that takes another index") {
    definitions.front().members.front().skip_index0 = true;
  }
  SUBCASE("the default partition") { definitions.front().pkey = fabric::kDefaultPKey; }
  CHECK(check_own_port(definitions, kOwn));
}

TEST_CASE("a group may contain the own port; an unknown own port is none of the named ones") {
  for (const PortGroup group : {PortGroup::all, PortGroup::all_cas, PortGroup::self}) {
    CHECK_FALSE(check_own_port(with({group}), kOwn));
    CHECK_FALSE(check_own_port(with({group}), std::nullopt));
  }
  for (const PortGroup group : {PortGroup::all_switches, PortGroup::all_routers})
    CHECK(check_own_port(with({group}), kOwn));
  CHECK(check_own_port(with({kOther}), std::nullopt));
}

TEST_CASE("all members of all partitions are checked") {
  auto definitions = with({kOther});
  definitions.push_back(with({kOther}).front());
  CHECK(check_own_port(definitions, kOwn));
  definitions.back().members.push_back({kOwn});
  CHECK_FALSE(check_own_port(definitions, kOwn));
}

}  // namespace
}  // namespace ibpod::sm::opensm
