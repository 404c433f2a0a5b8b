#include "lib/base/back_off.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("the wait doubles up to the limit, and starts again at the first one after a reset") {
  BackOff back_off(Duration(250), Duration(1500));
  for (const int wanted : {250, 500, 1000, 1500, 1500}) {
    CHECK(back_off.next() == Duration(wanted));
  }
  back_off.reset();
  CHECK(back_off.next() == Duration(250));
}

}  // namespace
}  // namespace ibpod
