#include "lib/json/version.h"

#include <doctest/doctest.h>

namespace ibpod::json {
namespace {

Status check(const char* document, int64_t newest) {
  return check_version(Value::parse(document).value(), newest);
}

TEST_CASE("a document has the version that it says, or else the first one") {
  CHECK(check("{}", 1));
  CHECK(check(R"({"version": 1})", 1));
  CHECK(check(R"({"version": 2})", 3));
  const Error newer = check(R"({"version": 3})", 2).error();
  CHECK(newer.code() == Code::unsupported);
  CHECK(newer.text() ==
        "version 3 is too new: this program reads up to version 2; run the newer ibpod that wrote "
        "it (the file is unchanged)");
  CHECK(check(R"({"version": 9223372036854775807})", 2).error().code() == Code::unsupported);
}

TEST_CASE("what is no version is not taken for a newer one") {
  for (const char* document :
       {R"({"version": 0})", R"({"version": -1})", R"({"version": "2"})", R"({"version": 1.5})"}) {
    CAPTURE(document);
    CHECK(check(document, 1).error().code() == Code::invalid);
  }
}

}  // namespace
}  // namespace ibpod::json
