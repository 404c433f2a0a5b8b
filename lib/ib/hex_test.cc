#include "lib/ib/hex.h"

#include <doctest/doctest.h>

namespace ibpod::ib {
namespace {

TEST_CASE("hex has the width that is asked for") {
  CHECK(hex(0, 2) == "00");
  CHECK(hex(0xab, 4) == "00ab");
  CHECK(hex(UINT64_MAX, 16) == "ffffffffffffffff");
  CHECK(hex(0x1234, 2) == "34");
}

TEST_CASE("hex digits and nothing else are read") {
  CHECK(parse_hex("0") == 0);
  CHECK(parse_hex("aBcD") == 0xabcd);
  CHECK(parse_hex("ffffffffffffffff") == UINT64_MAX);
  for (const char* text : {"", "0x1", "-1", "+1", " 1", "1 ", "g", "00000000000000001"}) {
    CAPTURE(text);
    CHECK(parse_hex(text) == std::nullopt);
  }
}

}  // namespace
}  // namespace ibpod::ib
