#include "sm/verify/table_diff.h"

#include "lib/fabric/test_partitions.h"

#include <set>

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using fabric::Membership;
using fabric::PartitionDefinition;
using fabric::PortGroup;

constexpr ib::Guid kPort{0x0002c90300000001}, kOther{0x0002c90300000002};
constexpr ib::PKey kTenant{0x0101};
constexpr ib::PKey kBlueFull{0x8001}, kBlueLimited{0x0001}, kDefault{0x7fff};

std::vector<PartitionDefinition> blue(Membership membership, bool index0 = false) {
  return {
      fabric::default_definition(),
      {.name = "blue", .pkey = kBlueLimited, .index0 = index0, .members = {{kPort, membership}}}};
}

TEST_CASE("a port's keys are those of its partitions, and the default one") {
  const DesiredKeys desired(blue(Membership::full));
  CHECK(desired.of({.guid = kPort}).keys == std::vector<ib::PKey>{kDefault, kBlueFull});
  CHECK(desired.of({.guid = kOther}).keys == std::vector<ib::PKey>{kDefault});
  CHECK(desired.of({.guid = kOther, .runs_sm = true}).keys ==
        std::vector<ib::PKey>{ib::kDefaultFull});
  CHECK_FALSE(desired.of({.guid = kPort}).index0);
  CHECK(desired.named() == std::vector<ib::Guid>{kPort});
  CHECK(DesiredKeys(blue(Membership::full, true)).of({.guid = kPort}).index0 == kBlueFull);
  CHECK(DesiredKeys(blue(Membership::both, true)).of({.guid = kPort}).index0 == kBlueLimited);
  auto keeping = blue(Membership::full, true);
  keeping.back().members.front().skip_index0 = true;
  CHECK(DesiredKeys(keeping).of({.guid = kPort}).keys ==
        std::vector<ib::PKey>{kDefault, kBlueFull});
  CHECK_FALSE(DesiredKeys(keeping).of({.guid = kPort}).index0);
}

TEST_CASE("the default key has to be at index 0 of the ports that its rule names") {
  PartitionDefinition rule = fabric::default_definition();
  rule.index0 = true;
  CHECK(DesiredKeys({rule}).of({.guid = kPort}).index0 == kDefault);
  rule.members = {{PortGroup::self, Membership::full}};
  CHECK_FALSE(DesiredKeys({rule}).of({.guid = kPort}).index0);
  CHECK(DesiredKeys({rule}).of({.guid = kPort}).first() == kDefault);
}

TEST_CASE("by port is what is by partition") {
  fabric::test::RandomPartitions random(7);
  for (int run = 0; run < 200; ++run) {
    const std::vector<PartitionDefinition> definitions = random.some();
    const DesiredKeys desired(definitions);
    std::vector<ib::Guid> guids = desired.named();
    guids.push_back(kOther);
    for (const ib::Guid guid : guids) {
      const fabric::EndPort port{.guid = guid, .runs_sm = random.below(2) == 0};
      const std::vector<ib::PKey> keys = keys_of(definitions, port);
      const std::set<ib::PKey> sorted(keys.begin(), keys.end());
      CHECK(desired.of(port).keys == std::vector(sorted.begin(), sorted.end()));
    }
  }
}

TEST_CASE("a table is compared by all 16 bits of its keys") {
  const DesiredTable desired{.keys = {kDefault, kBlueFull}, .index0 = {}};
  struct Case {
    ib::PKeyTable table;
    TableDiff verdict;
  };
  const ib::PKey none, none_full{0x8000};
  const Case cases[] = {
      {{kDefault, kBlueFull, none, none_full}, {}},
      {{none, kBlueFull, kDefault}, {}},
      {{kDefault, none, none}, {.missing = {kBlueFull}}},
      {{kDefault, kBlueLimited}, {.missing = {kBlueFull}, .foreign = {kBlueLimited}}},
      {{kDefault, kBlueLimited, kBlueFull}, {.foreign = {kBlueLimited}}},
      {{ib::kDefaultFull, kBlueFull}, {.missing = {kDefault}, .foreign = {ib::kDefaultFull}}},
      {{}, {.missing = {kDefault, kBlueFull}}},
  };
  for (const Case& test : cases) {
    CAPTURE(text(test.table));
    CHECK(compare(test.table, desired) == test.verdict);
  }
}

TEST_CASE("any wrong table is right after the repair, and right keys have not moved") {
  fabric::test::RandomPartitions random(8);
  for (int run = 0; run < 2000; ++run) {
    DesiredTable desired;
    std::set<ib::PKey> keys;
    for (uint32_t count = random.below(6); count > 0; --count)
      keys.insert(ib::PKey(static_cast<uint16_t>((1 + random.below(4)) | random.below(2) << 15)));
    desired.keys.assign(keys.begin(), keys.end());
    if (!keys.empty() && random.below(2) == 0) desired.index0 = desired.keys.back();
    ib::PKeyTable table(8);
    for (ib::PKey& key : table)
      if (random.below(2) == 0)
        key = ib::PKey(static_cast<uint16_t>(random.below(6) | random.below(2) << 15));
    const Result<ib::PKeyTable> right = repaired(table, desired);
    REQUIRE(right);
    CAPTURE(text(table));
    CAPTURE(text(*right));
    CHECK(compare(*right, desired).good());
    if (desired.index0) continue;
    for (size_t place = 0; place < table.size(); ++place)
      if (keys.contains(table[place])) CHECK((*right)[place] == table[place]);
  }
}

TEST_CASE("the default partition's key is put to index 0, and a tenant's never in its stead") {
  const DesiredTable desired{.keys = {kTenant, kDefault}, .index0 = {}};
  const ib::PKey none;
  const std::pair<ib::PKeyTable, ib::PKeyTable> cases[] = {
      {{ib::kDefaultFull, none, none}, {kDefault, kTenant, none}},
      {{none, none, none}, {kDefault, kTenant, none}},
      {{kTenant, none, ib::kDefaultFull}, {kDefault, kTenant, none}},
      {{none, kTenant, none}, {kDefault, kTenant, none}},
      // The key stays at its index.
      {{kTenant, none, kDefault}, {kTenant, none, kDefault}},
  };
  for (const auto& [table, right] : cases) {
    CAPTURE(text(table));
    CHECK(repaired(table, desired).value() == right);
  }
  const DesiredTable claimed{.keys = {kTenant, kDefault}, .index0 = kTenant};
  CHECK(repaired({ib::kDefaultFull, none, none}, claimed).value() ==
        ib::PKeyTable{kTenant, kDefault, none});
}

TEST_CASE("more keys than entries cannot be repaired") {
  const DesiredTable desired{.keys = {kBlueLimited, kDefault, kBlueFull}, .index0 = {}};
  const Result<ib::PKeyTable> right = repaired({kDefault, ib::PKey()}, desired);
  REQUIRE_FALSE(right);
  CHECK(right.error().code() == Code::busy);
}

TEST_CASE("what is wrong is said in words") {
  const TableDiff diff{.missing = {kBlueFull}, .foreign = {kBlueLimited, ib::kDefaultFull}};
  CHECK(diff.text() == "lacks 0x8001; holds 0x0001, 0xffff, which no partition assigns");
  TableDiff large;
  for (uint16_t key = 1; key <= 65'000; ++key) large.foreign.emplace_back(key);
  CHECK(large.text().ends_with("0x0008 and 64992 more, which no partition assigns"));
  CHECK(large.text().size() < 200);
  CHECK(TableDiff{.index0 = false}.text() == "has another key at index 0");
  CHECK(TableDiff{}.text().empty());
}

}  // namespace
}  // namespace ibpod::sm::verify
