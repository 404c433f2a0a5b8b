#include "sm/pool/guid_pool.h"

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

using ib::Guid;

constexpr uint64_t kFirst = 0x0200000000000010;
Guid guid(uint64_t offset) { return Guid(kFirst + offset); }
GuidPool pool() { return GuidPool::make(guid(0), guid(3)).value(); }

TEST_CASE("a range has ports' GUIDs from end to end") {
  CHECK(
      GuidPool::make(guid(3), guid(0)).error().text() ==
      "GUID range 02:00:00:00:00:00:00:13 to 02:00:00:00:00:00:00:10: the first is above the last");
  CHECK_FALSE(GuidPool::make(Guid(0), guid(0)));
  CHECK_FALSE(GuidPool::make(guid(0), Guid(UINT64_MAX)));
  CHECK_FALSE(GuidPool::make(Guid(0x0300000000000000), Guid(0x0300000000000001)));
  // In between lie group addresses.
  CHECK_FALSE(GuidPool::make(guid(0), Guid(0x0400000000000000)));
  CHECK(GuidPool::make(guid(0), guid(0)));
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
  CHECK(next({guid(1), guid(2), guid(3)}, guid(0)) == guid(0));
}

TEST_CASE("no more GUIDs than there are") {
  const auto none = pool().next({guid(0), guid(1), guid(2), guid(3), guid(9)}, guid(2));
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == Code::busy);
}

TEST_CASE("a range as large as GUIDs are costs no more than what is used of it") {
  const GuidPool all = GuidPool::make(Guid(0x0200000000000001), Guid(0x02fffffffffffffe)).value();
  std::set<Guid> used;
  std::optional<Guid> last;
  for (int i = 0; i < 1000; ++i) {
    last = all.next(used, last).value();
    CHECK(used.insert(*last).second);
  }
  CHECK(last == Guid(0x0200000000000001 + 999));
}

}  // namespace
}  // namespace ibpod::sm
