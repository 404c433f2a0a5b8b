#include "sm/verify/repair_plan.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using probe::Repair;

constexpr ib::Guid kVf{0x11};
constexpr ib::PKey kBlue{0x8001}, kRed{0x8002}, kForeign{0x8009};

TableFinding wrong(TableDiff diff, bool switch_port = false) {
  TableFinding finding;
  finding.kind = TableFinding::Kind::wrong;
  finding.diff = std::move(diff);
  finding.switch_port = switch_port;
  return finding;
}

TEST_CASE("the table to correct is the one that was found wrong") {
  Observation observation;
  observation.result.table = ib::PKeyTable{kBlue};
  CHECK(*wrong_table(observation, wrong({})) == ib::PKeyTable{kBlue});
  CHECK(wrong_table(observation, wrong({}, true)) == nullptr);
  observation.result.switch_port = {.table = ib::PKeyTable{kRed}};
  CHECK(*wrong_table(observation, wrong({})) == ib::PKeyTable{kBlue});
  CHECK(*wrong_table(observation, wrong({}, true)) == ib::PKeyTable{kRed});
  const probe::ProbeError error{probe::ProbeFailure::timeout};
  observation.result.table = error;
  observation.result.switch_port->table = error;
  CHECK_MESSAGE(wrong_table(observation, wrong({})) == nullptr, "only its node has read it");
  CHECK(wrong_table(observation, wrong({}, true)) == nullptr);
}

TEST_CASE("only the blocks that differ are written") {
  ib::PKeyTable table(2 * mad::kBlockEntries);
  table[mad::kBlockEntries] = kForeign;
  const ib::PKeyTable before = table;
  const auto repairs =
      plan_repairs(kVf, table, wrong({.foreign = {kForeign}}), {.keys = {}, .index0 = {}});
  REQUIRE(repairs);
  REQUIRE(repairs->size() == 1);
  const Repair& repair = repairs->front();
  CHECK(repair.kind == Repair::Kind::revoke);
  CHECK(repair.port == kVf);
  CHECK(repair.table == Repair::Table::own);
  CHECK(repair.block == 1);
  CHECK(repair.expected == mad::block_of(before, 1));
  CHECK(repair.keys == mad::PKeyBlock{});
}

TEST_CASE("a block that only gets keys is a bind; a switch port has no index 0") {
  const DesiredTable desired{.keys = {kBlue}, .index0 = kBlue};
  const ib::PKeyTable table{ib::kDefaultFull, ib::PKey()};
  const auto own =
      plan_repairs(kVf, {ib::PKey(), ib::PKey()}, wrong({.missing = {kBlue}}), desired);
  REQUIRE(own);
  REQUIRE(own->size() == 1);
  CHECK(own->front().kind == Repair::Kind::bind);
  CHECK(own->front().keys == mad::block_of({kBlue, ib::PKey()}, 0));
  const ib::PKeyTable other_place{ib::PKey(), kBlue};
  const auto at_switch = plan_repairs(kVf, other_place, wrong({}, true), desired);
  REQUIRE(at_switch);
  CHECK_MESSAGE(at_switch->empty(), "the key is there");
  const auto at_port = plan_repairs(kVf, other_place, wrong({.index0 = false}), desired);
  REQUIRE(at_port);
  CHECK(at_port->size() == 1);
  const auto at_switch_missing =
      plan_repairs(kVf, {ib::PKey()}, wrong({.missing = {kBlue}}, true), desired);
  REQUIRE(at_switch_missing);
  CHECK(at_switch_missing->front().table == Repair::Table::switch_port);
}

TEST_CASE("more keys than entries cannot be repaired") {
  const auto repairs =
      plan_repairs(kVf, {kBlue}, wrong({.missing = {kRed}}), {.keys = {kBlue, kRed}, .index0 = {}});
  REQUIRE_FALSE(repairs);
  CHECK(repairs.error().code() == Code::busy);
}

TEST_CASE("the subnet manager has yet to write the initial table of a port in state INIT") {
  const ib::PKeyTable initial{ib::kDefaultFull, ib::PKey(0x8000), ib::PKey()};
  fabric::Port port;
  port.state = ib::PortState::init;
  CHECK(awaits_sm(&port, initial));
  CHECK_FALSE(awaits_sm(nullptr, initial));
  CHECK_FALSE_MESSAGE(awaits_sm(&port, {ib::kDefaultFull, kBlue}), "it was written before");
  CHECK_FALSE(awaits_sm(&port, {ib::PKey(0x7fff)}));
  port.state = ib::PortState::active;
  CHECK_FALSE(awaits_sm(&port, initial));
}

}  // namespace
}  // namespace ibpod::sm::verify
