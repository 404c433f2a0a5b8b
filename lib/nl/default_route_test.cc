#include "lib/nl/default_route.h"

#include "lib/nl/message.h"

#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace ibpod::nl {
namespace {

using Ways = std::vector<IfIndex>;

rtmsg default_route(int family) {
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(family);
  header.rtm_type = RTN_UNICAST;
  header.rtm_table = RT_TABLE_MAIN;
  return header;
}

Message route(const rtmsg& header, uint32_t link) {
  Message message("a route", RTM_NEWROUTE, 0);
  message.header(header);
  if (link != 0) message.u32(RTA_OIF, link);
  return message;
}

Result<Ways> parse(const Message& message) {
  return parse_default_route(message.encoded().subspan(NLMSG_HDRLEN));
}

std::vector<std::byte> way(int link, uint16_t length = sizeof(rtnexthop)) {
  rtnexthop hop{};
  hop.rtnh_len = length;
  hop.rtnh_ifindex = link;
  std::vector<std::byte> bytes(std::max(size_t{length}, sizeof hop));
  std::memcpy(bytes.data(), &hop, sizeof hop);
  return bytes;
}

TEST_CASE("a default route of either family is found, whatever its table and metric") {
  for (const int family : {AF_INET, AF_INET6}) {
    Message message = route(default_route(family), 7);
    message.u32(RTA_TABLE, 1000).u32(RTA_PRIORITY, 9999);
    CHECK(*parse(message) == Ways{IfIndex{7}});
  }
}

TEST_CASE("a multipath route goes by each of its ways") {
  Message message = route(default_route(AF_INET), 0);
  std::vector<std::byte> ways = way(4, sizeof(rtnexthop) + 8);  // followed by a gateway
  const std::vector<std::byte> second = way(9);
  ways.insert(ways.end(), second.begin(), second.end());
  message.bytes(RTA_MULTIPATH, ways);
  CHECK(*parse(message) == Ways{IfIndex{4}, IfIndex{9}});
}

TEST_CASE("any other route goes by none that counts") {
  rtmsg network = default_route(AF_INET);
  network.rtm_dst_len = 24;
  rtmsg blackhole = default_route(AF_INET6);
  blackhole.rtm_type = RTN_UNREACHABLE;
  const rtmsg multicast = default_route(RTNL_FAMILY_IPMR);
  for (const rtmsg& header : {network, blackhole, multicast}) {
    CHECK(parse(route(header, 7))->empty());
  }
}

TEST_CASE("a message that is cut or says nonsense of its lengths is refused") {
  const Message message = route(default_route(AF_INET), 7);
  const Bytes payload = message.encoded().subspan(NLMSG_HDRLEN);
  CHECK(parse_default_route(payload.first(4)).error().code() == Code::invalid);
  CHECK(!parse_default_route(payload.first(payload.size() - 2)).ok());
  for (const uint16_t length : {uint16_t{0}, uint16_t{4}, uint16_t{200}}) {
    CAPTURE(length);
    std::vector<std::byte> ways = way(4, length);
    ways.resize(sizeof(rtnexthop));
    Message wrong = route(default_route(AF_INET), 0);
    wrong.bytes(RTA_MULTIPATH, ways);
    CHECK(parse(wrong).error().code() == Code::invalid);
  }
}

TEST_CASE("what this namespace uses its links for can be asked") {
  Socket socket = Socket::open(Family::route).value();
  CHECK(default_route_links(socket).ok());
  CHECK(all_addresses(socket).ok());
}

}  // namespace
}  // namespace ibpod::nl
