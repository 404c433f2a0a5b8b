#include "ctl/convert/base64.h"

#include <doctest/doctest.h>

namespace ibpod::ctl::convert {
namespace {

TEST_CASE("base64 is decoded, with and without line breaks") {
  const struct {
    std::string text, bytes;
  } table[] = {{"", ""},
               {"Zg==", "f"},
               {"Zm8=", "fo"},
               {"Zm9v", "foo"},
               {"Zm9vYmFy", "foobar"},
               {"Zm9v\r\nYmFy\n", "foobar"},
               {"+/+/", "\xfb\xff\xbf"},
               {"AAAA", std::string(3, '\0')}};
  for (const auto& [text, bytes] : table) {
    CAPTURE(text);
    const Result<std::string> decoded = decode_base64(text);
    REQUIRE(decoded);
    CHECK(*decoded == bytes);
  }
}

TEST_CASE("text that is not base64 is refused, and not quoted") {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zh==", "Zm9=", "Zm9v Ym",
                           "p-ss", "s3cret!!", "Zm9v\tYmF="}) {
    CAPTURE(std::string(text));
    const Result<std::string> decoded = decode_base64(text);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code() == Code::invalid);
    CHECK(decoded.error().text() == "expected base64");
  }
}

}  // namespace
}  // namespace ibpod::ctl::convert
