#include "lib/json/parts.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod::json {
namespace {

TEST_CASE("parts: objects, lists, members and elements count, and what is in strings does not") {
  const std::string document = R"({"a": [1, 2, {}], "b,[{": "\"{[,\\", "c": {}})";
  // Two objects in it, itself, a list, and four commas.
  CHECK(check_parts(document, 8));
  const Status refused = check_parts(document, 7);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text() == "JSON: more than 7 objects, lists and members");
  CHECK(check_parts("", 0));
  CHECK(check_parts("7", 0));
}

TEST_CASE("parts: what is no JSON is counted as well as it can be") {
  CHECK(check_parts("\"never closed, [[[[{{{{", 0));
  CHECK(check_parts("\"ends in an escape\\", 0));
  CHECK_FALSE(check_parts("]]][", 0));
}

}  // namespace
}  // namespace ibpod::json
