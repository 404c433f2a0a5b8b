#include "sm/verify/node_observations.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

constexpr ib::Guid kVf1{0x11}, kVf2{0x12}, kVf3{0x21};
constexpr ib::PKey kBlue{0x8001}, kRed{0x8002}, kFree{0x8000};

NodeObservations::Time at(int ms) { return NodeObservations::Time(std::chrono::milliseconds(ms)); }

NodeObservation sight(size_t keys, int ms = 0) {
  return {.table = ib::PKeyTable(keys, kBlue), .applied = 1, .swept = 1, .at = at(ms)};
}

TEST_CASE("what a node tells: free places at the end of a table are not kept") {
  NodeObservations observations;
  CHECK(observations.record("n1", kVf1, {.table = {kBlue, kFree, kRed, kFree, ib::PKey()}}, 3));
  CHECK(observations.find(kVf1)->table == ib::PKeyTable{kBlue, kFree, kRed});
  CHECK(observations.record("n1", kVf2, {.table = ib::PKeyTable(1000)}, 3));
  CHECK(observations.find(kVf2)->table.empty());
  CHECK(observations.find(kVf3) == nullptr);
}

TEST_CASE("node reports: the entries of all tables of a node are limited, whatever others report") {
  NodeObservations observations;
  CHECK(observations.record("n1", kVf1, sight(6), 10));
  const Status refused = observations.record("n1", kVf2, sight(5), 10);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::busy);
  CHECK(refused.error().text() ==
        "ports.table: entry limit of node n1 reached (10): its tables would have 11 entries in use "
        "with the table of port " +
            kVf2.text());
  CHECK(observations.find(kVf2) == nullptr);
  CHECK(observations.record("n2", kVf3, sight(10), 10));
  CHECK_FALSE(observations.record("n1", kVf1, sight(11), 10));
  CHECK_MESSAGE(observations.find(kVf1)->table.size() == 6, "a refusal changes nothing");
  CHECK_MESSAGE(observations.record("n1", kVf1, sight(5), 10),
                "a table takes the place of the last one");
  CHECK(observations.record("n1", kVf2, sight(5), 10));
  observations.forget(kVf1);
  CHECK(observations.record("n1", kVf2, sight(10), 10));
}

TEST_CASE("what a node tells: places are free again when tables are forgotten or change hands") {
  NodeObservations observations;
  CHECK(observations.record("n1", kVf1, sight(6, 1), 10));
  CHECK(observations.record("n1", kVf2, sight(4, 2), 10));
  observations.forget_before(at(2));
  CHECK(observations.find(kVf1) == nullptr);
  CHECK(observations.all().size() == 1);
  CHECK(observations.record("n1", kVf1, sight(6, 3), 10));
  CHECK(observations.record("n2", kVf1, sight(6, 4), 10));
  CHECK(observations.record("n1", kVf2, sight(10, 5), 10));
}

TEST_CASE("node reports: a table is compared once, until another is reported or desired") {
  NodeObservations observations;
  const DesiredTable blue{.keys = {kBlue}, .index0 = {}}, red{.keys = {kRed}, .index0 = {}};
  CHECK(observations.record("n1", kVf1, sight(3, 1), 10));
  CHECK(observations.diff(kVf1, blue).good());
  for (int pass = 0; pass < 100; ++pass) CHECK(observations.diff(kVf1, blue).good());
  CHECK(observations.record("n1", kVf1, sight(3, 2), 10));
  CHECK(observations.diff(kVf1, blue).good());
  CHECK(observations.compared() == 1);
  CHECK(observations.find(kVf1)->at == at(2));
  CHECK(observations.diff(kVf1, red).text() ==
        "lacks 0x8002; holds 0x8001, which no partition assigns");
  CHECK(observations.compared() == 2);
  CHECK(observations.record("n1", kVf1, {.table = {kRed}}, 10));
  CHECK(observations.diff(kVf1, red).good());
  CHECK(observations.compared() == 3);
}

TEST_CASE("node reports: more keys than the port has entries are refused; free ones do not count") {
  fabric::Topology::Contents contents;
  for (const ib::Guid guid : {kVf1, kVf2}) contents.ports.emplace_back().guid = guid;
  contents.ports[0].partition_cap = 2;
  const fabric::Topology topology(std::move(contents));
  CHECK(check_report(topology, kVf1, {kBlue, kRed}));
  CHECK(check_report(topology, kVf1, {kBlue, kRed, kFree, ib::PKey()}));
  const Status refused = check_report(topology, kVf1, {kBlue, kFree, kRed, kFree});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text() == "ports.table: port " + kVf1.text() + " has 2 entries, got 3");
  CHECK_MESSAGE(check_report(topology, kVf2, {kBlue, kRed, kRed}), "its size is not known");
  CHECK_MESSAGE(check_report(topology, kVf3, {kBlue, kRed, kRed}), "no scan has found it");
}

}  // namespace
}  // namespace ibpod::sm::verify
