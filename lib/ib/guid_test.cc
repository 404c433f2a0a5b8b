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
       {"", "0", "00:11:22:33:44:55:66", "00:11:22:33:44:55:66:77:88", "00:11:22:33:44:55:66:7g",
        "0011:2233:4455:667", "0x00000000000000000", "0000000000000000", "0xg", "0x",
        "0x_112233445566ff", ":::::::::::::::::::::::"}) {
    CAPTURE(text);
    const auto parsed = Guid::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == Code::invalid);
    CHECK(parsed.error().text() == "\"" + std::string(text) +
                                       "\" is not a GUID: expected eight bytes in hex, such as "
                                       "00:11:22:33:44:55:66:77");
  }
}

TEST_CASE("a GUID in another form is refused with the form that is read") {
  for (const char* text :
       {"00112233445566ff", "00-11-22-33-44-55-66-ff", "0011.2233.4455.66ff",
        " 00:11:22:33:44:55:66:ff", "00:11:22:33:44:55:66:ff ", "0x112233445566ff",
        "0x00:11:22:33:44:55:66:ff", "fe80:0000:0000:0000:0011:2233:4455:66ff",
        "80:00:00:48:fe:80:00:00:00:00:00:00:00:11:22:33:44:55:66:ff"}) {
    const auto parsed = Guid::parse(text);
    REQUIRE_FALSE(parsed);
    const std::string refusal = parsed.error().text(), mark = ": write ";
    CAPTURE(refusal);
    const size_t at = refusal.rfind(mark);
    REQUIRE(at != refusal.npos);
    CHECK(Guid::parse(refusal.substr(at + mark.size())).value() == kGuid);
  }
}

TEST_CASE("all-zero and all-ones both say that there is none") {
  CHECK(Guid().none());
  CHECK(kNoGuid.none());
  CHECK(kNoGuid.text() == "ff:ff:ff:ff:ff:ff:ff:ff");
  CHECK_FALSE(kGuid.none());
}

// 59:ca:bb:…: as the SR-IOV operator draws about every second one.
TEST_CASE("a port has whatever GUID it was given, and is given none that is a group address") {
  const Guid odd(0x59cabb009792745f);
  for (const Guid guid : {kGuid, Guid(0x0200000000000001), Guid(1), odd})
    CHECK(check_port_guid(guid));
  for (const Guid guid : {kGuid, Guid(0x0200000000000001), Guid(1)}) CHECK(check_allocatable(guid));
  for (const Guid guid : {Guid(), kNoGuid}) {
    CHECK_FALSE(check_port_guid(guid));
    CHECK_FALSE(check_allocatable(guid));
  }
  CHECK(check_allocatable(odd).error().text() ==
        "59:ca:bb:00:97:92:74:5f is a group address, which no port can have: the lowest bit of its "
        "first byte must be 0, as in 58:ca:bb:00:97:92:74:5f");
}

}  // namespace
}  // namespace ibpod::ib
