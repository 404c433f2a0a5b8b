#include "lib/nl/message.h"

#include "lib/nl/attributes.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <doctest/doctest.h>
#include <linux/rtnetlink.h>

namespace ibpod::nl {
namespace {

nlmsghdr header_of(const Message& message) {
  nlmsghdr header{};
  std::memcpy(&header, message.encoded().data(), sizeof header);
  return header;
}

TEST_CASE("a message starts with its type, its flags and the request flag") {
  const Message message("ask", RTM_GETLINK, NLM_F_DUMP);
  const nlmsghdr header = header_of(message);
  CHECK(header.nlmsg_type == RTM_GETLINK);
  CHECK(header.nlmsg_flags == (NLM_F_REQUEST | NLM_F_DUMP));
  CHECK(header.nlmsg_len == sizeof header);
  CHECK(header.nlmsg_seq == 0);
  CHECK(message.what() == "ask");
}

TEST_CASE("the family's header comes first, padded to 4 bytes") {
  Message message("test", RTM_GETLINK, 0);
  message.header(std::array<uint8_t, 6>{1, 2, 3, 4, 5, 6}).u8(1, 9);
  const Bytes payload = message.encoded().subspan(NLMSG_HDRLEN);
  CHECK(payload[5] == std::byte{6});
  const auto found = attributes(payload.subspan(8));
  REQUIRE(found.ok());
  CHECK(*value_of<uint8_t>(found->at(0)) == 9);
}

TEST_CASE("nests hold what was added between open and close") {
  Message message("test", RTM_NEWLINK, 0);
  message.open(1).open(2).u16(3, 33).close().u16(4, 44).close().u16(5, 55);
  const auto outer = attributes(message.encoded().subspan(NLMSG_HDRLEN));
  REQUIRE(outer.ok());
  REQUIRE(outer->size() == 2);
  CHECK(outer->at(1).type == 5);
  const auto middle = attributes(outer->at(0).value);
  REQUIRE(middle.ok());
  REQUIRE(middle->size() == 2);
  CHECK(middle->at(1).type == 4);
  const auto inner = attributes(middle->at(0).value);
  REQUIRE(inner.ok());
  CHECK(*value_of<uint16_t>(inner->at(0)) == 33);
}

TEST_CASE("a text carries its terminating NUL") {
  Message message("test", RTM_NEWLINK, 0);
  message.text(3, "ib0");
  const auto found = attributes(message.encoded().subspan(NLMSG_HDRLEN));
  CHECK(found->at(0).value.size() == 4);
}

TEST_CASE("what does not fit leaves the message as it was and the memory alone") {
  Message message("test", RTM_NEWLINK, 0);
  message.text(3, "ib0").text(3, std::string(100'000, 'x'));
  for (int i = 0; i < 100; ++i) message.text(3, std::string(1000, 'x'));
  message.open(4).close();
  CHECK(attributes(message.encoded().subspan(NLMSG_HDRLEN)).ok());
  CHECK(message.encoded().size() <= 16384);
}

TEST_CASE("a moved message is the same message") {
  Message message("test", RTM_NEWLINK, 0);
  message.u32(1, 7);
  const std::vector<std::byte> before(message.encoded().begin(), message.encoded().end());
  const Message moved = std::move(message);
  CHECK(std::equal(before.begin(), before.end(), moved.encoded().begin()));
}

}  // namespace
}  // namespace ibpod::nl
