#include "lib/base/printable.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("a text is cut to its limit, with a mark") {
  CHECK(printable("", 3).empty());
  CHECK(printable("abc", 3) == "abc");
  CHECK(printable("abcd", 3) == "...");
  CHECK(printable("abcde", 4) == "a...");
  CHECK(printable(std::string("\0\t\x7f\x80~ ", 6), 10) == "????~ ");
  CHECK(printable(std::string(5000, 'x') + "\x1b") == std::string(5000, 'x') + "?");
}

}  // namespace
}  // namespace ibpod
