#include "sm/pool/pkey_pool.h"

#include <doctest/doctest.h>

namespace ibpod::sm::pool {
namespace {

using Partitions = PKeyPool::Partitions;
constexpr RangeUse kAutomatic = RangeUse::automatic, kByRequest = RangeUse::by_request;

PKeyPool pool() {
  return PKeyPool::make(
             {{0x200, 0x201, kAutomatic}, {0x10, 0x12, kAutomatic}, {0x100, 0x1ff, kByRequest}})
      .value();
}

uint16_t next(const Partitions& used, std::optional<uint16_t> after = std::nullopt) {
  return pool().next(used, after).value().value();
}

TEST_CASE("ranges are refused where they are reversed, shared or not a tenant's") {
  const auto refusal = [](const std::vector<PKeyRange>& ranges) {
    return PKeyPool::make(ranges).error().text();
  };
  CHECK(refusal({{0x20, 0x10, kAutomatic}}) ==
        "P_Key range 0x0020-0x0010: first is greater than last");
  CHECK(refusal({{0, 5, kAutomatic}}) ==
        "P_Key range 0x0000-0x0005: expected P_Keys from 0x0001 to 0x7ffe");
  CHECK(refusal({{0x7ffe, 0x7fff, kAutomatic}}) ==
        "P_Key range 0x7ffe-0x7fff: expected P_Keys from 0x0001 to 0x7ffe");
  CHECK(refusal({{0x8001, 0x8002, kAutomatic}}).find("0x8001") != std::string::npos);
  CHECK(refusal({{0x20, 0x30, kByRequest}, {0x10, 0x20, kAutomatic}}) ==
        "P_Key ranges 0x0010-0x0020 and 0x0020-0x0030 overlap");
  CHECK(PKeyPool::make({{1, 1, kAutomatic}, {2, 0x7ffe, kByRequest}}));
  CHECK(PKeyPool::make({}));
}

TEST_CASE(
    "a key by request lies in a range for such keys, ends included, whatever its membership") {
  const auto allows = [](int key) { return pool().allows(ib::PKey(static_cast<uint16_t>(key))); };
  for (const int key : {0x100, 0x1ff, 0x8100}) CHECK(allows(key));
  for (const int key : {0xff, 0x200, 0x10, 0x8010})
    CHECK(allows(key).error().code() == Code::invalid);
  CHECK(pool().allows(ib::PKey(0x10)).error().text() ==
        "P_Key 0x0010 is in no range of \"pkeys\" whose \"use\" is \"explicit\" (0x0100-0x01ff)");
  CHECK_FALSE(pool().allows(ib::PKey(0x7fff)));
  CHECK_FALSE(pool().allows(ib::PKey(0x8000)));
  CHECK(PKeyPool::make({}).value().allows(ib::PKey(1)).error().text().find("none is configured") !=
        std::string::npos);
}

TEST_CASE("automatic keys go round, so that one that has become free is used last") {
  CHECK(next({}) == 0x10);
  CHECK(next({0x10, 0x11}) == 0x12);
  CHECK(next({0x10, 0x11, 0x12}) == 0x200);
  CHECK(next({}, 0x10) == 0x11);
  CHECK(next({0x11}, 0x10) == 0x12);
  CHECK(next({}, 0x12) == 0x200);
  CHECK(next({}, 0x150) == 0x200);
  CHECK(next({}, 0x201) == 0x10);
  CHECK(next({0x10}, 0x7ffe) == 0x11);
  CHECK(next({0x11, 0x12, 0x200, 0x201}, 0x10) == 0x10);
}

TEST_CASE("no more automatic keys than there are") {
  const auto none = pool().next({0x10, 0x11, 0x12, 0x200, 0x201}, 0x11);
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == Code::busy);
  CHECK(none.error().text() ==
        "no P_Key is free in the automatic ranges (0x0010-0x0012, 0x0200-0x0201); add a range to "
        "\"pkeys\" in ibpod-sm's configuration");
}

TEST_CASE("ranges that leave out a live partition are seen") {
  CHECK(pool().covers({0x10, 0x150, 0x201}));
  CHECK(pool().covers({}));
  CHECK(
      pool().covers({0x10, 0x13, 0x7ffe}).error().text() ==
      "P_Keys of existing partitions are in no range of \"pkeys\": 0x0013, 0x7ffe; add ranges for "
      "them");
}

}  // namespace
}  // namespace ibpod::sm::pool
