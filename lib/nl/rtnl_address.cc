#include "lib/base/files.h"
#include "lib/nl/attributes.h"
#include "lib/nl/rtnl.h"
#include "lib/nl/rtnl_messages.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

namespace ibpod::nl {
namespace {

uint8_t family_of(const ip::Address& address) {
  return address.family() == ip::Family::v4 ? AF_INET : AF_INET6;
}

std::span<const std::byte> bytes_of(const ip::Address& address) {
  return std::as_bytes(std::span(address.bytes())).first(address.size());
}

Result<ip::Address> address_in(const Attribute& attribute, uint8_t family) {
  if (attribute.value.size() != (family == AF_INET ? 4 : 16)) {
    return Error(Code::invalid,
                 "an IP address has " + std::to_string(attribute.value.size()) + " bytes");
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, attribute.value.data(), text.data(), text.size());
  return ip::Address::parse(text.data());
}

void set_flags(LinkAddress& address, uint32_t flags) {
  address.tentative = (flags & IFA_F_TENTATIVE) != 0;
  address.failed = (flags & IFA_F_DADFAILED) != 0;
}

// IPv4 hosts answer to the last address of their network too; the kernel does not work it out.
void add_broadcast(Message& message, const ip::Prefix& prefix) {
  if (prefix.address.family() != ip::Family::v4 || prefix.length > 30) return;
  uint32_t address = 0;
  std::memcpy(&address, prefix.address.bytes().data(), sizeof address);
  message.u32(IFA_BROADCAST, address | htonl(0xffffffffU >> prefix.length));
}

Status check_route(const Route& route) {
  if (!route.gateway || route.gateway->family() == route.destination.address.family()) return ok();
  return Error(Code::invalid, "the gateway " + route.gateway->text() + " of " +
                                  route.destination.text() + " has another address family");
}

std::string words(const Route& route) {
  return "the route to " + route.destination.text() +
         (route.gateway ? " via " + route.gateway->text() : "");
}

void add_metrics(Message& message, const Route& route) {
  if (!route.mtu && !route.advmss) return;
  message.open(RTA_METRICS);
  if (route.mtu) message.u32(RTAX_MTU, *route.mtu);
  if (route.advmss) message.u32(RTAX_ADVMSS, *route.advmss);
  message.close();
}

rtmsg route_header(const Route& route) {
  rtmsg header{};
  header.rtm_family = family_of(route.destination.address);
  header.rtm_dst_len = route.destination.length;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_type = RTN_UNICAST;
  header.rtm_scope = route.scope.value_or(route.gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK);
  header.rtm_table = RT_TABLE_UNSPEC;  // RTA_TABLE holds the number, which may exceed a byte
  return header;
}

// /proc/sys/net shows the settings of the namespace that the thread is in. They are read first:
// where /proc/sys is read-only, what is right already is no failure.
Status enable_on(const std::string& link) {
  const Path file = Path("/proc/sys/net/ipv6/conf") / link / "disable_ipv6";
  const Result<std::string> disabled = read_file(file);
  if (!disabled && disabled.error().code() == Code::not_found) return ok();
  if (!disabled) return disabled.error();
  if (disabled->starts_with('0')) return ok();
  const Fd fd(TRY(
      sys("open " + file.string(), [&] { return ::open(file.c_str(), O_WRONLY | O_CLOEXEC); })));
  TRY(sys("write " + file.string(), [&] { return ::write(fd.get(), "0", 1); }));
  return ok();
}

}  // namespace

Result<LinkAddress> parse_address(Bytes payload, IfIndex& link) {
  const ifaddrmsg header = TRY(take_header<ifaddrmsg>(payload));
  if (header.ifa_family != AF_INET && header.ifa_family != AF_INET6) {
    return Error(Code::invalid, "unknown address family " + std::to_string(header.ifa_family));
  }
  LinkAddress address;
  std::optional<ip::Address> local;
  std::optional<ip::Address> peer;
  set_flags(address, header.ifa_flags);
  const auto found = TRY(attributes(payload));
  for (const Attribute& attribute : found) {
    if (attribute.type == IFA_LOCAL) local = TRY(address_in(attribute, header.ifa_family));
    if (attribute.type == IFA_ADDRESS) peer = TRY(address_in(attribute, header.ifa_family));
    if (attribute.type != IFA_FLAGS) continue;
    const uint32_t flags = TRY(value_of<uint32_t>(attribute));
    set_flags(address, flags);
  }
  // On a point-to-point link IFA_ADDRESS is the other end; else IFA_LOCAL may be left out (IPv6).
  if (!local) local = peer;
  if (!local) return Error(Code::invalid, "the message holds no address");
  link = IfIndex{static_cast<int32_t>(header.ifa_index)};
  address.prefix = ip::Prefix{*local, header.ifa_prefixlen};
  return address;
}

Result<Route> parse_route(Bytes payload, IfIndex& link) {
  const rtmsg header = TRY(take_header<rtmsg>(payload));
  if (header.rtm_family != AF_INET && header.rtm_family != AF_INET6) {
    return Error(Code::invalid, "unknown address family " + std::to_string(header.rtm_family));
  }
  Route route;
  const std::string_view any = header.rtm_family == AF_INET ? "0.0.0.0" : "::";
  route.destination.address = TRY(ip::Address::parse(any));
  route.destination.length = header.rtm_dst_len;
  route.scope = header.rtm_scope;
  link = IfIndex{};
  const auto found = TRY(attributes(payload));
  for (const Attribute& attribute : found) {
    if (attribute.type == RTA_DST)
      route.destination.address = TRY(address_in(attribute, header.rtm_family));
    if (attribute.type == RTA_GATEWAY)
      route.gateway = TRY(address_in(attribute, header.rtm_family));
    if (attribute.type == RTA_TABLE) route.table = TRY(value_of<uint32_t>(attribute));
    if (attribute.type == RTA_PRIORITY) route.priority = TRY(value_of<uint32_t>(attribute));
    if (attribute.type != RTA_OIF) continue;
    const int32_t index = TRY(value_of<int32_t>(attribute));
    link = IfIndex{index};
  }
  return route;
}

Result<std::vector<Route>> routes(Socket& socket, IfIndex link) {
  Message message("list the routes of " + words(link), RTM_GETROUTE, NLM_F_DUMP);
  message.header(rtmsg{});
  std::vector<Route> all;
  const Status asked = socket.ask(message, [&](Bytes payload) -> Status {
    IfIndex way{};
    const Result<Route> route = parse_route(payload, way);
    // Multicast routing tables are listed as well.
    if (route && way == link) all.push_back(*route);
    return ok();
  });
  if (!asked) return asked.error();
  return all;
}

Result<std::vector<LinkAddress>> addresses(Socket& socket, IfIndex link) {
  Message message("list the addresses of " + words(link), RTM_GETADDR, NLM_F_DUMP);
  message.header(ifaddrmsg{});
  std::vector<LinkAddress> all;
  const Status asked = socket.ask(message, [&](Bytes payload) -> Status {
    IfIndex holder{};
    const LinkAddress address = TRY(parse_address(payload, holder));
    if (holder == link) all.push_back(address);
    return ok();
  });
  if (!asked) return asked.error();
  return all;
}

Status add_address(Socket& socket, IfIndex link, const ip::Prefix& address) {
  Message message("add the address " + address.text(), RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  ifaddrmsg header{};
  header.ifa_family = family_of(address.address);
  header.ifa_prefixlen = address.length;
  header.ifa_index = static_cast<uint32_t>(link);
  message.header(header);
  message.bytes(IFA_LOCAL, bytes_of(address.address));
  message.bytes(IFA_ADDRESS, bytes_of(address.address));
  add_broadcast(message, address);
  return socket.send(message);
}

Status add_route(Socket& socket, IfIndex link, const Route& route) {
  TRY(check_route(route));
  Message message("add " + words(route), RTM_NEWROUTE, NLM_F_CREATE);
  message.header(route_header(route));
  if (route.destination.length > 0) message.bytes(RTA_DST, bytes_of(route.destination.address));
  message.u32(RTA_OIF, static_cast<uint32_t>(link));
  message.u32(RTA_TABLE, route.table.value_or(RT_TABLE_MAIN));
  if (route.gateway) message.bytes(RTA_GATEWAY, bytes_of(*route.gateway));
  if (route.priority) message.u32(RTA_PRIORITY, *route.priority);
  add_metrics(message, route);
  Status added = socket.send(message);
  // Without NLM_F_EXCL only an equal route makes it fail.
  if (!added && added.error().error_number() == EEXIST) return ok();
  if (added || added.error().error_number() != ENETUNREACH || !route.gateway) return added;
  return Error(Code::invalid, added.error().text() + "; " + route.gateway->text() +
                                  " is in none of the subnets of the interface's addresses");
}

Status enable_ipv6(const std::string& link) {
  TRY(enable_on("lo").during("enable IPv6 on " + link));
  return enable_on(link).during("enable IPv6 on " + link);
}

}  // namespace ibpod::nl
