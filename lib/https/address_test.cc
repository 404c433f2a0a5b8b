#include "lib/https/address.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod::https {
namespace {

TEST_CASE("an address is https, a host and perhaps a port") {
  for (const char* good : {"https://ufm", "https://ufm.example.com:8443", "https://UFM-1",
                           "https://192.0.2.1", "https://[2001:db8::1]", "https://[::1]:443"}) {
    CAPTURE(good);
    CHECK(check_address(good));
  }
  for (const char* bad : {"",
                          "ufm",
                          "http://ufm",
                          "HTTPS://ufm",
                          "https://",
                          "https://:443",
                          "https://ufm:",
                          "https://ufm:0",
                          "https://ufm:65536",
                          "https://ufm:1x",
                          "https://ufm/",
                          "https://ufm/path",
                          "https://user@ufm",
                          "https://user:password@ufm",
                          "https://ufm?x",
                          "https://ufm#x",
                          "https://u fm",
                          "https://ufm\r\nHost: x",
                          "https://::1",
                          "https://[::1",
                          "https://[ufm]",
                          "https://[192.0.2.1]",
                          "https://-ufm",
                          "https://.",
                          "https://ufm:1:2",
                          "file:///etc/passwd",
                          "https://ufm\\@x",
                          "https://\xc3\xa4"}) {
    CAPTURE(bad);
    const Status checked = check_address(bad);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == Code::invalid);
    CHECK(checked.error().text().find("https://HOST:PORT") != std::string::npos);
  }
}

TEST_CASE("a URL is an address and a path, without a user and a query") {
  const std::string longest = "https://api/" + std::string(1988, 'x');
  for (const std::string& good :
       {std::string("https://kubernetes.default.svc/openid/v1/jwks"), std::string("https://api/"),
        std::string("https://[2001:db8::1]:6443/a%20b/~c/"), longest}) {
    CAPTURE(good);
    CHECK(check_url(good));
  }
  for (const std::string& bad :
       {std::string(), std::string("https://"), std::string("https:///jwks"),
        std::string("https://api"), std::string("api/jwks"), std::string("http://api/jwks"),
        std::string("file:///jwks"), std::string("https://user:5ec7e7@api/jwks"),
        std::string("https://api/jwks?key=5ec7e7"), std::string("https://api?5ec7e7/jwks"),
        std::string("https://api/jwks#5ec7e7"), std::string("https://api/a b"),
        std::string("https://api/\r\nHost: x"), std::string("https://api/\xc3\xa4"),
        std::string("https://api:0/jwks"), std::string("https://api/\0", 13), longest + "x"}) {
    CAPTURE(bad);
    const Status checked = check_url(bad);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == Code::invalid);
    CHECK(checked.error().text() ==
          "expected https://HOST/PATH or https://HOST:PORT/PATH, without a user and a query, of at "
          "most 2000 bytes");
  }
}

}  // namespace
}  // namespace ibpod::https
