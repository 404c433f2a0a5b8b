#include "lib/jwt/token.h"

#include "tests/support/test_issuer.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::jwt {
namespace {

const std::string kHeader = R"({"alg":"RS256","kid":"k1"})";

std::string token(const std::string& header, const std::string& claims = "{}") {
  return unsigned_token(header, claims) + ".AAAA";
}

TEST_CASE("token: its parts") {
  const auto parsed =
      Token::parse(token(R"({"alg":"ES256","kid":"k1","typ":"JWT"})", R"({"a":1})"));
  REQUIRE(parsed);
  CHECK(parsed->algorithm == Algorithm::es256);
  CHECK(parsed->key_id == "k1");
  CHECK(parsed->claims.text() == R"({"a":1})");
}

TEST_CASE("token: each form that is none has its reason") {
  const struct {
    std::string text, error;
  } table[] = {
      {"", "expected three parts with dots between them, got 0 dots"},
      {"a.b", "expected three parts with dots between them, got 1 dots"},
      {"a.b.c.d.e", "expected three parts with dots between them, got 4 dots"},
      {"..", "the header: expected base64url, got nothing"},
      {unsigned_token(kHeader, "{}") + ".", "the signature: expected base64url, got nothing"},
      {"!." + base64url("{}") + ".AAAA", "the header: expected base64url without padding"},
      {base64url(kHeader) + ".e30=.AAAA", "the claims: expected base64url without padding"},
      {unsigned_token(kHeader, "{}") + ".A", "the signature: expected base64url without padding"},
      {token("7"), "the header: expected a JSON object"},
      {token(kHeader, "[]"), "the claims: expected a JSON object"},
      {token(kHeader, R"({"exp":1,"exp":2})"), R"(the claims: JSON: duplicate key "exp")"},
      {token(R"({"alg":"RS256","alg":"none","kid":"k1"})"),
       R"(the header: JSON: duplicate key "alg")"},
      {token(kHeader, R"({"kubernetes.io":{"node":1,"node":2}})"),
       R"(the claims: JSON: duplicate key "node", in kubernetes.io)"},
      {token(R"({"kid":"k1"})"), "header alg: is missing"},
      {token(R"({"alg":"RS256"})"), "header kid: is missing"},
      {token(R"({"alg":7,"kid":"k1"})"), "header alg: expected a string, got the number 7"},
      {token(R"({"alg":"none","kid":"k1"})"), R"(header alg: expected RS256 or ES256, got "none")"},
      {token(R"({"alg":"None","kid":"k1"})"), R"(header alg: expected RS256 or ES256, got "None")"},
      {token(R"({"alg":"HS256","kid":"k1"})"),
       R"(header alg: expected RS256 or ES256, got "HS256")"},
      {token(R"({"alg":"PS256","kid":"k1"})"),
       R"(header alg: expected RS256 or ES256, got "PS256")"},
      {token(R"({"alg":"RS256","kid":"k1","crit":["b64"],"b64":false})"),
       "header crit: no extension is supported"},
      {std::string(kLargestToken + 1, 'A'), "the token has 16385 bytes: expected at most 16384"},
  };
  for (const auto& [text, error] : table) {
    CAPTURE(error);
    const auto parsed = Token::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == Code::denied);
    CHECK(parsed.error().text() == error);
  }
}

TEST_CASE("token: its refusal is short and printable, and has no part of it") {
  const std::string claims(8000, '[');
  for (const std::string& bad :
       {token(kHeader, claims), token(kHeader, "{\"" + std::string(5000, 'x') + "\x1b\n"),
        token("{\"alg\":\"" + std::string(5000, '\x7f') + "\"}")}) {
    const auto parsed = Token::parse(bad);
    REQUIRE_FALSE(parsed);
    const std::string& text = parsed.error().text();
    CHECK(text.size() <= 400);
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    CHECK(text.find(bad.substr(bad.find('.') + 1, 20)) == text.npos);
  }
}

}  // namespace
}  // namespace ibpod::jwt
