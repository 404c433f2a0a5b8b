#include "lib/jwt/base64url.h"

#include <doctest/doctest.h>

namespace ibpod::jwt {
namespace {

TEST_CASE(
    "base64url: the examples of RFC 4648 without padding, and the two characters of its own") {
  const struct {
    const char *text, *bytes;
  } table[] = {
      {"", ""},           {"Zg", "f"},          {"Zm8", "fo"},          {"Zm9v", "foo"},
      {"Zm9vYg", "foob"}, {"Zm9vYmE", "fooba"}, {"Zm9vYmFy", "foobar"}, {"-_8", "\xfb\xff"}};
  for (const auto& [text, bytes] : table) {
    CAPTURE(text);
    CHECK(decode_base64url(text) == bytes);
  }
}

TEST_CASE("base64url: nothing but the one encoding of some bytes is taken") {
  for (const char* text :
       {"Z", "Zm9vY", "Zg==", "Zm8=", "Zh", "Zm9", "+/8", "Zm 9v", "Zm9v\n", "\xc3\xa9"}) {
    CAPTURE(text);
    CHECK_FALSE(decode_base64url(text));
  }
}

}  // namespace
}  // namespace ibpod::jwt
