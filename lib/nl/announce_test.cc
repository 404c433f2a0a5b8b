#include "lib/nl/announce.h"

#include <numeric>

#include <doctest/doctest.h>

namespace ibpod::nl {
namespace {

using Frame = std::vector<uint8_t>;

// 1, 2, 3 … 20
HardwareAddress own_address() {
  HardwareAddress address(20);
  std::iota(address.begin(), address.end(), uint8_t{1});
  return address;
}

Frame part(const Frame& frame, size_t from, size_t size) {
  const auto begin = frame.begin() + static_cast<long>(from);
  return Frame(begin, begin + static_cast<long>(size));
}

TEST_CASE("the ARP packet asks for the very address it comes from") {
  const Frame frame = encode_arp(own_address(), ip::Address::parse("10.1.2.3").value());
  REQUIRE(frame.size() == 8 + 20 + 4 + 20 + 4);
  CHECK(part(frame, 0, 8) == Frame{0, 32, 8, 0, 20, 4, 0, 1});  // InfiniBand, IPv4, request
  CHECK(part(frame, 8, 20) == own_address());
  CHECK(part(frame, 28, 4) == Frame{10, 1, 2, 3});
  CHECK(part(frame, 32, 20) == Frame(20, 0));
  CHECK(part(frame, 52, 4) == Frame{10, 1, 2, 3});
}

TEST_CASE("the advertisement overrides and carries the hardware address in three units of eight") {
  const Frame frame = encode_advertisement(own_address(), ip::Address::parse("fd05::2").value());
  REQUIRE(frame.size() == 8 + 16 + 24);
  CHECK(part(frame, 0, 8) == Frame{136, 0, 0, 0, 0x20, 0, 0, 0});
  CHECK(part(frame, 8, 16) == Frame{0xfd, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2});
  CHECK(part(frame, 24, 4) == Frame{2, 3, 0, 0});
  CHECK(part(frame, 28, 20) == own_address());
}

TEST_CASE("a link that is no IPoIB link is refused before anything is sent") {
  Link link;
  link.name = "eth0";
  link.address = HardwareAddress(6);
  const auto told = announce(link, HardwareAddress(6), ip::Address::parse("10.1.2.3").value());
  REQUIRE(!told);
  CHECK(told.error().code() == Code::unsupported);
}

}  // namespace
}  // namespace ibpod::nl
