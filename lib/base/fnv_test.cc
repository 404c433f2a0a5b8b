#include "lib/base/fnv.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// draft-eastlake-fnv, appendix C.
TEST_CASE("FNV-1a: the published values") {
  CHECK(fnv1a("") == 0xcbf29ce484222325);
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8c);
  CHECK(fnv1a("foobar") == 0x85944171f73967e8);
}

}  // namespace
}  // namespace ibpod
