#include "lib/mad/route.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

TEST_CASE("a route by LID has a unicast LID") {
  CHECK(Route::to(1)->text() == "LID 1");
  CHECK(Route::to(0xbfff)->lid() == 0xbfff);
  for (const int lid : {0, 0xc000, 0xffff}) CHECK(!Route::to(static_cast<ib::Lid>(lid)));
}

TEST_CASE("a directed route names the ports to leave by") {
  const auto route = Route::along({1, 7});
  CHECK(route->directed());
  CHECK(route->text() == "path 0,1,7");
  CHECK(*Route::along({}) == Route::own());
  CHECK(Route::own().text() == "path 0");
}

TEST_CASE("a directed route has at most 63 hops, and none by port 0 or 255") {
  CHECK(Route::along(std::vector<uint8_t>(63, 1)));
  CHECK(!Route::along(std::vector<uint8_t>(64, 1)));
  CHECK(!Route::along({1, 0}));
  CHECK(!Route::along({255}));
}

}  // namespace
}  // namespace ibpod::mad
