#include "sm/ufm/other_partitions.h"

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using fabric::Membership;

constexpr ib::Guid kA{0xa}, kB{0xb}, kC{0xc};

TEST_CASE("UFM's partitions outside of our ranges, with the keys that their members have") {
  const auto pkeys = pool::PKeyPool::make({{0x10, 0x1f}}).value();
  const std::map<ib::PKey, UfmPartition> shown{
      {ib::PKey(0x05),
       {ib::PKey(0x05),
        "storage",
        true,
        {{kA, ib::Membership::limited, false}, {kB, ib::Membership::full, true}, {kC}}}},
      {ib::PKey(0x10), {ib::PKey(0x10), "ours", true, {{kA, ib::Membership::full, false}}}},
      {ib::PKey(0x20),
       {ib::PKey(0x20), "a name: with syntax", {}, {{kA, ib::Membership::full, false}}}},
      {ib::PKey(0x7fff), {ib::PKey(0x7fff), "management", true, {}}},
  };
  const auto others = other_partitions(shown, pkeys);
  REQUIRE(others.size() == 2);
  CHECK(others[0].name == "storage");
  CHECK(others[0].pkey == ib::PKey(0x05));
  CHECK(others[0].index0);
  CHECK(others[0].ipoib);
  CHECK(others[0].members == std::vector<fabric::Member>{{kB, Membership::full},
                                                         {kA, Membership::limited, true},
                                                         {kC, Membership::full, true}});
  CHECK(others[1].name == "0x0020");
  CHECK_FALSE(others[1].index0);
  CHECK(others[1].members == std::vector<fabric::Member>{{kA, Membership::full}});
  for (const fabric::PartitionDefinition& other : others) CHECK(fabric::check(other));
}

}  // namespace
}  // namespace ibpod::sm::ufm
