#include "lib/https/address.h"

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

}  // namespace
}  // namespace ibpod::https
