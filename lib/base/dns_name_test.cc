#include "lib/base/dns_name.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("names as Kubernetes gives them, and others") {
  for (const std::string name : {"a", "0", "n7", "a-b", "a--b", "team-a0"}) {
    CAPTURE(name);
    CHECK(is_dns_label(name));
    CHECK(is_dns_subdomain(name));
  }
  for (const std::string name : {"a.b", "n7.lab-a", "0.a-1.b"}) {
    CAPTURE(name);
    CHECK_FALSE(is_dns_label(name));
    CHECK(is_dns_subdomain(name));
  }
  for (const std::string name : {"", "-a", "a-", ".a", "a.", "a..b", "a.-b", "a-.b", "a_b", "a b",
                                 "A", "a/b", "a:b", "*", "\xc3\xa4"}) {
    CAPTURE(name);
    CHECK_FALSE(is_dns_label(name));
    CHECK_FALSE(is_dns_subdomain(name));
  }
  CHECK(is_dns_label(std::string(63, 'a')));
  CHECK_FALSE(is_dns_label(std::string(64, 'a')));
  CHECK(is_dns_subdomain(std::string(253, 'a')));
  CHECK_FALSE(is_dns_subdomain(std::string(254, 'a')));
}

}  // namespace
}  // namespace ibpod
