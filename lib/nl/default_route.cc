#include "lib/nl/default_route.h"

#include "lib/nl/attributes.h"

#include <algorithm>

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace ibpod::nl {
namespace {

// RTA_MULTIPATH: a list of rtnexthop, each followed by its own attributes.
Result<std::vector<IfIndex>> read_ways(Bytes bytes) {
  std::vector<IfIndex> ways;
  while (!bytes.empty()) {
    Bytes rest = bytes;
    const rtnexthop way = TRY(take_header<rtnexthop>(rest));
    if (way.rtnh_len < sizeof way || way.rtnh_len > bytes.size()) {
      return Error(Code::invalid,
                   "a next hop of a multipath route extends past the end of the message");
    }
    ways.push_back(IfIndex{way.rtnh_ifindex});
    const size_t aligned = (size_t{way.rtnh_len} + 3) & ~size_t{3};
    bytes = bytes.subspan(std::min(aligned, bytes.size()));
  }
  return ways;
}

}  // namespace

Result<std::vector<IfIndex>> parse_default_route(Bytes payload) {
  const rtmsg header = TRY(take_header<rtmsg>(payload));
  std::vector<IfIndex> ways;
  const bool known = header.rtm_family == AF_INET || header.rtm_family == AF_INET6;
  if (!known || header.rtm_dst_len != 0 || header.rtm_type != RTN_UNICAST) return ways;
  const auto found = TRY(attributes(payload));
  for (const Attribute& attribute : found) {
    if (attribute.type == RTA_OIF) {
      const IfIndex way = TRY(value_of<IfIndex>(attribute));
      ways.push_back(way);
    }
    if (attribute.type != RTA_MULTIPATH) continue;
    const std::vector<IfIndex> several = TRY(read_ways(attribute.value));
    ways.insert(ways.end(), several.begin(), several.end());
  }
  return ways;
}

Result<std::set<IfIndex>> default_route_links(Socket& socket) {
  Message message("list the routes", RTM_GETROUTE, NLM_F_DUMP);
  message.header(rtmsg{});
  std::set<IfIndex> links;
  const Status asked = socket.ask(message, [&](Bytes payload) -> Status {
    const std::vector<IfIndex> ways = TRY(parse_default_route(payload));
    links.insert(ways.begin(), ways.end());
    return ok();
  });
  if (!asked) return asked.error();
  return links;
}

Result<std::map<IfIndex, std::vector<ip::Prefix>>> all_addresses(Socket& socket) {
  Message message("list the addresses", RTM_GETADDR, NLM_F_DUMP);
  message.header(ifaddrmsg{});
  std::map<IfIndex, std::vector<ip::Prefix>> all;
  const Status asked = socket.ask(message, [&](Bytes payload) -> Status {
    IfIndex holder{};
    const LinkAddress address = TRY(parse_address(payload, holder));
    all[holder].push_back(address.prefix);
    return ok();
  });
  if (!asked) return asked.error();
  return all;
}

}  // namespace ibpod::nl
