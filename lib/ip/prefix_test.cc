#include "lib/ip/prefix.h"

#include <doctest/doctest.h>

namespace ibpod::ip {
namespace {

TEST_CASE("addresses of both families are read, and printed in their shortest form") {
  CHECK(Address::parse("10.1.2.3").value().text() == "10.1.2.3");
  CHECK(Address::parse("10.1.2.3").value().family() == Family::v4);
  CHECK(Address::parse("2001:0db8:0::0001").value().text() == "2001:db8::1");
  CHECK(Address::parse("::").value().family() == Family::v6);
  CHECK(Address::parse("10.1.2.3").value().size() == 4);
  CHECK(Address::parse("::1").value().size() == 16);
}

TEST_CASE("what is no address is refused") {
  for (const char* text : {"", "10.1.2", "10.1.2.3.4", "10.1.2.256", "010.1.2.3", "fe80::1%ib0",
                           "10.1.2.3/24", ":", ":::", "localhost", " 10.1.2.3"}) {
    CAPTURE(text);
    CHECK(Address::parse(text).error().code() == Code::invalid);
  }
  CHECK_FALSE(Address::parse(std::string_view("10.1.2.3\0x", 10)));
}

TEST_CASE("a prefix keeps its host bits") {
  CHECK(Prefix::parse("10.1.2.3/24").value().text() == "10.1.2.3/24");
  CHECK(Prefix::parse("0.0.0.0/0").value().length == 0);
  CHECK(Prefix::parse("2001:db8::1/128").value().text() == "2001:db8::1/128");
}

TEST_CASE("a prefix without a length, or with one that is too long, is refused") {
  for (const char* text :
       {"10.1.2.3", "10.1.2.3/", "10.1.2.3/33", "10.1.2.3/-1", "10.1.2.3/24x", "10.1.2.3/ 24",
        "2001:db8::1/129", "10.1.2.3/256", "/24", "10.1.2.3/24/24"}) {
    CAPTURE(text);
    CHECK(Prefix::parse(text).error().code() == Code::invalid);
  }
}

}  // namespace
}  // namespace ibpod::ip
