#include "lib/ib/guid.h"

#include <doctest/doctest.h>

namespace ibpod::ib {
namespace {

constexpr Guid kGuid{0x00112233445566ff};

TEST_CASE("a GUID is read in all its usual forms, and printed in one") {
  for (const char* text : {"00:11:22:33:44:55:66:ff", "00:11:22:33:44:55:66:FF",
                           "0011:2233:4455:66ff", "0x00112233445566ff", "0X00112233445566FF"}) {
    CAPTURE(text);
    CHECK(Guid::parse(text).value() == kGuid);
  }
  CHECK(kGuid.text() == "00:11:22:33:44:55:66:ff");
  CHECK(kGuid.text_in_gid() == "0011:2233:4455:66ff");
  CHECK(Guid::from_bytes({0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0xff}) == kGuid);
}

TEST_CASE("what is no GUID is refused with an example") {
  for (const char* text :
       {"", "0", "00:11:22:33:44:55:66", "00:11:22:33:44:55:66:77:88", "0x112233",
        "00112233445566ff", "00-11-22-33-44-55-66-77", "00:11:22:33:44:55:66:7g",
        " 00:11:22:33:44:55:66:77", "00:11:22:33:44:55:66:77 ", "0011:2233:4455:667",
        "0x00112233445566f", "0x-0112233445566ff", ":::::::::::::::::::::::"}) {
    CAPTURE(text);
    const auto parsed = Guid::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == Code::invalid);
    CHECK(parsed.error().text() == "\"" + std::string(text) +
                                       "\" is no GUID: expected eight bytes in hex, such as "
                                       "00:11:22:33:44:55:66:77");
  }
}

TEST_CASE("all-zero and all-ones both say that there is none") {
  CHECK(Guid().none());
  CHECK(kNoGuid.none());
  CHECK(kNoGuid.text() == "ff:ff:ff:ff:ff:ff:ff:ff");
  CHECK_FALSE(kGuid.none());
}

TEST_CASE("only a GUID that names one port can be assigned") {
  CHECK(check_assignable(kGuid));
  CHECK(check_assignable(Guid(0x0200000000000001)));
  CHECK_FALSE(check_assignable(Guid()));
  CHECK_FALSE(check_assignable(kNoGuid));
  CHECK(check_assignable(Guid(0x0100000000000001)).error().text().find("group address") !=
        std::string::npos);
}

}  // namespace
}  // namespace ibpod::ib
