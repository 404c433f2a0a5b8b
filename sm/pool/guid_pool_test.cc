#include "sm/pool/guid_pool.h"

#include <doctest/doctest.h>

namespace ibpod::sm::pool {
namespace {

using ib::Guid;

constexpr uint64_t kFirst = 0x0200000000000010;
Guid guid(uint64_t offset) { return Guid(kFirst + offset); }
Result<GuidPool> range(Guid first, Guid last) { return GuidPool::make({{first, last}}); }
GuidPool pool() { return range(guid(0), guid(3)).value(); }

TEST_CASE("a range has ports' GUIDs from end to end") {
  CHECK(
      range(guid(3), guid(0)).error().text() ==
      "GUID range 02:00:00:00:00:00:00:13 to 02:00:00:00:00:00:00:10: first is greater than last");
  CHECK_FALSE(range(Guid(0), guid(0)));
  CHECK_FALSE(range(guid(0), Guid(UINT64_MAX)));
  CHECK_FALSE(range(Guid(0x0300000000000000), Guid(0x0300000000000001)));
  const Guid odd(0x59cabb0097927400);
  CHECK_FALSE(range(odd, odd));
  // A request may name a GUID of a range that the pool does not assign from.
  CHECK(GuidPool::make({{odd, odd, {"team-a"}}}).value().allows_request(odd, "team-a"));
  CHECK_FALSE(GuidPool::make({{guid(0), Guid(UINT64_MAX), {"team-a"}}}));
  // The range contains group addresses.
  CHECK_FALSE(range(guid(0), Guid(0x0400000000000000)));
  CHECK(range(guid(0), guid(0)));
  CHECK(pool().contains(guid(0)));
  CHECK(pool().contains(guid(3)));
  CHECK_FALSE(pool().contains(guid(4)));
  CHECK_FALSE(pool().contains(Guid(kFirst - 1)));
}

TEST_CASE("GUIDs go round, so that one that has become free is used last") {
  const auto next = [](const std::set<Guid>& used, std::optional<Guid> after = std::nullopt) {
    return pool().next(used, after).value();
  };
  CHECK(next({}) == guid(0));
  CHECK(next({guid(0), guid(1)}) == guid(2));
  CHECK(next({}, guid(1)) == guid(2));
  CHECK(next({guid(2)}, guid(1)) == guid(3));
  CHECK(next({guid(2), guid(3)}, guid(1)) == guid(0));
  CHECK(next({}, guid(3)) == guid(0));
  CHECK(next({}, Guid(kFirst - 5)) == guid(0));
  CHECK(next({}, guid(9)) == guid(0));
  CHECK(next({guid(1), guid(2), guid(3)}, guid(0)) == guid(0));
}

TEST_CASE("several ranges are used one after the other") {
  const GuidPool two = GuidPool::make({{guid(8), guid(9)}, {guid(0), guid(1)}}).value();
  CHECK(two.contains(guid(1)));
  CHECK_FALSE(two.contains(guid(2)));
  CHECK(two.contains(guid(8)));
  CHECK(two.next({}, guid(0)).value() == guid(1));
  CHECK(two.next({}, guid(1)).value() == guid(8));
  CHECK(two.next({guid(8)}, guid(1)).value() == guid(9));
  CHECK(two.next({guid(0)}, guid(9)).value() == guid(1));
  CHECK_FALSE(two.next({guid(0), guid(1), guid(8), guid(9)}, guid(5)));
}

TEST_CASE("of a range for choosing nothing is given, and pods of its namespaces choose") {
  const GuidPool both =
      GuidPool::make({{guid(0), guid(1), {"team-a", "team-b"}}, {guid(4), guid(4)}}).value();
  CHECK(both.can_assign());
  CHECK(both.contains(guid(1)));
  CHECK(both.next({}, {}).value() == guid(4));
  CHECK(both.next({}, guid(0)).value() == guid(4));
  CHECK_FALSE(both.next({guid(4)}, {}));
  CHECK(both.allows_request(guid(1), "team-b"));
  CHECK_FALSE(both.allows_request(guid(1), "team"));
  CHECK_FALSE(both.allows_request(guid(2), "team-a"));
  CHECK_FALSE(both.allows_request(guid(4), "team-a"));
  CHECK(GuidPool::make({{guid(0), guid(1), {"*"}}}).value().allows_request(guid(0), "any"));
  CHECK_FALSE(GuidPool::make({{guid(0), guid(1), {"*"}}}).value().can_assign());
  const GuidPool of_dev = GuidPool::make({{guid(0), guid(1), {"dev/*"}}}).value();
  CHECK(of_dev.allows_request(guid(1), "dev/team-a"));
  CHECK_FALSE(of_dev.allows_request(guid(1), "team-a"));
  CHECK(GuidPool::make({{guid(0), guid(1), {"A"}}}).error().text() ==
        "GUID range 02:00:00:00:00:00:00:10 to 02:00:00:00:00:00:00:11: chosenBy: 'A' is not a "
        "namespace or *");
}

TEST_CASE("ranges have nothing in common, and there may be none") {
  const auto common = GuidPool::make({{guid(3), guid(9)}, {guid(0), guid(3)}});
  REQUIRE_FALSE(common);
  CHECK(common.error().text() ==
        "GUID ranges 02:00:00:00:00:00:00:10 to 02:00:00:00:00:00:00:13 and "
        "02:00:00:00:00:00:00:13 to 02:00:00:00:00:00:00:19 overlap");
  CHECK(GuidPool::make({{guid(0), guid(3)}, {guid(4), guid(9)}}));
  const GuidPool none = GuidPool::make({}).value();
  CHECK_FALSE(none.can_assign());
  CHECK_FALSE(none.contains(guid(0)));
  CHECK_FALSE(none.next({}, {}));
}

TEST_CASE("no more GUIDs than there are") {
  const auto none = pool().next({guid(0), guid(1), guid(2), guid(3), guid(9)}, guid(2));
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == Code::busy);
}

TEST_CASE("a range as large as GUIDs are costs no more than what is used of it") {
  const GuidPool all = range(Guid(0x0200000000000001), Guid(0x02fffffffffffffe)).value();
  std::set<Guid> used;
  std::optional<Guid> last;
  for (int i = 0; i < 1000; ++i) {
    last = all.next(used, last).value();
    CHECK(used.insert(*last).second);
  }
  CHECK(last == Guid(0x0200000000000001 + 999));
}

}  // namespace
}  // namespace ibpod::sm::pool
