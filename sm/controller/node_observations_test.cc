#include "sm/controller/node_observations.h"

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

constexpr ib::Guid kVf1{0x11}, kVf2{0x12}, kVf3{0x21};
constexpr ib::PKey kBlue{0x8001}, kRed{0x8002}, kFree{0x8000};

NodeSights::Time at(int ms) { return NodeSights::Time(std::chrono::milliseconds(ms)); }

NodeSight sight(size_t keys, int ms = 0) {
  return {.table = ib::PKeyTable(keys, kBlue), .placed = 1, .swept = 1, .at = at(ms)};
}

TEST_CASE("what a node tells: free places at the end of a table are not kept") {
  NodeSights sights;
  CHECK(sights.take("n1", kVf1, {.table = {kBlue, kFree, kRed, kFree, ib::PKey()}}, 3));
  CHECK(sights.find(kVf1)->table == ib::PKeyTable{kBlue, kFree, kRed});
  CHECK(sights.take("n1", kVf2, {.table = ib::PKeyTable(1000)}, 3));
  CHECK(sights.find(kVf2)->table.empty());
  CHECK(sights.find(kVf3) == nullptr);
}

TEST_CASE("what a node tells: the places of all its tables are bounded, whatever others tell") {
  NodeSights sights;
  CHECK(sights.take("n1", kVf1, sight(6), 10));
  const Status refused = sights.take("n1", kVf2, sight(5), 10);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::busy);
  CHECK(refused.error().text() ==
        "ports.table: the tables of node n1 have 11 places in use with "
        "that of port " +
            kVf2.text() + ", and may have 10");
  CHECK(sights.find(kVf2) == nullptr);
  CHECK(sights.take("n2", kVf3, sight(10), 10));
  CHECK_FALSE(sights.take("n1", kVf1, sight(11), 10));
  CHECK_MESSAGE(sights.find(kVf1)->table.size() == 6, "a refusal changes nothing");
  CHECK_MESSAGE(sights.take("n1", kVf1, sight(5), 10), "a table takes the place of the last one");
  CHECK(sights.take("n1", kVf2, sight(5), 10));
  sights.forget(kVf1);
  CHECK(sights.take("n1", kVf2, sight(10), 10));
}

TEST_CASE("what a node tells: places are free again when tables are forgotten or change hands") {
  NodeSights sights;
  CHECK(sights.take("n1", kVf1, sight(6, 1), 10));
  CHECK(sights.take("n1", kVf2, sight(4, 2), 10));
  sights.forget_before(at(2));
  CHECK(sights.find(kVf1) == nullptr);
  CHECK(sights.all().size() == 1);
  CHECK(sights.take("n1", kVf1, sight(6, 3), 10));
  CHECK(sights.take("n2", kVf1, sight(6, 4), 10));
  CHECK(sights.take("n1", kVf2, sight(10, 5), 10));
}

TEST_CASE("what a node tells: a table is judged once, until another is told or wanted") {
  NodeSights sights;
  const WantedKeys blue{.keys = {kBlue}, .index0 = {}}, red{.keys = {kRed}, .index0 = {}};
  CHECK(sights.take("n1", kVf1, sight(3, 1), 10));
  CHECK(sights.verdict(kVf1, blue).good());
  for (int pass = 0; pass < 100; ++pass) CHECK(sights.verdict(kVf1, blue).good());
  CHECK(sights.take("n1", kVf1, sight(3, 2), 10));
  CHECK(sights.verdict(kVf1, blue).good());
  CHECK(sights.judged() == 1);
  CHECK(sights.find(kVf1)->at == at(2));
  CHECK(sights.verdict(kVf1, red).text() == "lacks 0x8002; holds 0x8001, which nobody gave it");
  CHECK(sights.judged() == 2);
  CHECK(sights.take("n1", kVf1, {.table = {kRed}}, 10));
  CHECK(sights.verdict(kVf1, red).good());
  CHECK(sights.judged() == 3);
}

}  // namespace
}  // namespace ibpod::sm
