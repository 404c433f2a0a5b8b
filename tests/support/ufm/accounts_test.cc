#include "tests/support/ufm/accounts.h"

#include <doctest/doctest.h>

namespace ibpod::fake_ufm {
namespace {

HttpRequest request(std::string authorization, std::optional<std::string> certificate = {}) {
  return {.authorization = std::move(authorization), .certificate = std::move(certificate)};
}

TEST_CASE("base64 as the vectors of RFC 4648 have it") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\xfd") == "//79");
}

TEST_CASE("each base takes the proof that is its own, and no other") {
  Accounts accounts;
  accounts.add_user("admin", "123456");
  accounts.add_token("raw-token", "admin");
  accounts.add_certificate("ibpod-sm", "admin");
  const HttpRequest password = request("Basic YWRtaW46MTIzNDU2"),
                    token = request("Basic raw-token"), certificate = request("", "ibpod-sm"),
                    nothing = request("");
  struct {
    const char* base;
    const HttpRequest& request;
    bool accepted;
  } const cases[] = {
      {"/ufmRest", password, true},       {"/ufmRest", token, false},
      {"/ufmRest", certificate, true},    {"/ufmRest", nothing, false},
      {"/ufmRestV2", password, false},    {"/ufmRestV2", token, false},
      {"/ufmRestV2", certificate, true},  {"/ufmRestV2", nothing, false},
      {"/ufmRestV3", password, false},    {"/ufmRestV3", token, true},
      {"/ufmRestV3", certificate, false}, {"/ufmRestV3", nothing, false},
  };
  for (const auto& expected : cases) {
    CAPTURE(expected.base);
    CAPTURE(expected.request.authorization);
    const auto user = accounts.authenticate(expected.base, expected.request);
    CHECK(user.ok() == expected.accepted);
    if (user) CHECK(*user == "admin");
  }
}

TEST_CASE("a password, a token and a certificate that are wrong") {
  Accounts accounts;
  accounts.add_user("admin", "123456");
  const std::string token = accounts.make_token("admin");
  CHECK(accounts.authenticate("/ufmRestV3", request("Basic " + token)));
  CHECK_FALSE(accounts.authenticate("/ufmRestV3", request("Bearer " + token)));
  accounts.expire_tokens();
  CHECK(accounts.authenticate("/ufmRestV3", request("Basic " + token)).error().text() ==
        "Token has expired");
  CHECK(accounts.authenticate("/ufmRestV3", request("Basic " + accounts.make_token("admin"))));
  CHECK_FALSE(accounts.authenticate("/ufmRest", request("Basic " + base64("admin:wrong"))));
  CHECK_FALSE(accounts.authenticate("/ufmRest", request("", "stranger")));
  accounts.set_password("admin", "changed");
  CHECK_FALSE(accounts.authenticate("/ufmRest", request("Basic " + base64("admin:123456"))));
  CHECK(accounts.authenticate("/ufmRest", request("Basic " + base64("admin:changed"))));
}

TEST_CASE("only administrators may write") {
  Accounts accounts;
  accounts.add_user("admin", "1");
  accounts.add_user("monitor", "2", Role::reader);
  CHECK(accounts.may_write("admin"));
  CHECK_FALSE(accounts.may_write("monitor"));
  CHECK_FALSE(accounts.may_write("stranger"));
}

}  // namespace
}  // namespace ibpod::fake_ufm
