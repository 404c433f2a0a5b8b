#include "lib/nl/announce.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace ibpod::nl {
namespace {

constexpr size_t kAddressSize = 20;  // RFC 4391 section 9.1.1
constexpr uint16_t kHardwareType = 32;
constexpr uint16_t kRequest = 1;
constexpr int kHopLimit =
    255;  // a receiver takes no other: no host beyond the link can have sent it
constexpr uint8_t kTargetLinkLayerAddress = 2;

// sockaddr_ll ends in room for 8 bytes of address; the kernel reads on up to sll_halen.
constexpr size_t kNameSize = offsetof(sockaddr_ll, sll_addr) + kAddressSize;

void put16(std::vector<uint8_t>& frame, uint16_t value) {
  frame.push_back(static_cast<uint8_t>(value >> 8));
  frame.push_back(static_cast<uint8_t>(value & 0xff));
}

void put(std::vector<uint8_t>& frame, std::span<const uint8_t> bytes) {
  frame.insert(frame.end(), bytes.begin(), bytes.end());
}

std::span<const uint8_t> bytes_of(const ip::Address& address) {
  return std::span(address.bytes()).first(address.size());
}

Status send_arp(const Link& link, const HardwareAddress& broadcast, const ip::Address& address) {
  const std::vector<uint8_t> frame = encode_arp(link.address, address);
  // Protocol 0: it sends only.
  const Fd fd(TRY(sys("open a packet socket",
                      [] { return ::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0); })));
  alignas(sockaddr_ll) std::array<uint8_t, kNameSize> to{};
  sockaddr_ll name{};
  name.sll_family = AF_PACKET;
  name.sll_protocol = htons(ETH_P_ARP);
  name.sll_ifindex = static_cast<int>(link.index);
  name.sll_halen = kAddressSize;
  std::memcpy(to.data(), &name, sizeof name);
  std::copy(broadcast.begin(), broadcast.end(), to.begin() + offsetof(sockaddr_ll, sll_addr));
  TRY(sys("send an ARP packet", [&] {
    return ::sendto(fd.get(), frame.data(), frame.size(), 0,
                    reinterpret_cast<const sockaddr*>(to.data()), to.size());
  }));
  return ok();
}

Status set_option(const Fd& fd, int option, int value) {
  TRY(sys("setsockopt on an ICMPv6 socket",
          [&] { return ::setsockopt(fd.get(), IPPROTO_IPV6, option, &value, sizeof value); }));
  return ok();
}

sockaddr_in6 name_of(const Link& link, std::span<const uint8_t> address) {
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_scope_id = static_cast<uint32_t>(link.index);
  std::memcpy(&name.sin6_addr, address.data(), sizeof name.sin6_addr);
  return name;
}

Result<Fd> open_icmp6(const Link& link, const ip::Address& address) {
  Fd fd(TRY(sys("open an ICMPv6 socket",
                [] { return ::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6); })));
  TRY(set_option(fd, IPV6_MULTICAST_IF, static_cast<int>(link.index)));
  TRY(set_option(fd, IPV6_MULTICAST_HOPS, kHopLimit));
  TRY(set_option(fd, IPV6_MULTICAST_LOOP, 0));
  // From the address itself: a source of the kernel's choice may be "::", which makes it void.
  const sockaddr_in6 own = name_of(link, bytes_of(address));
  TRY(sys("bind an ICMPv6 socket to " + address.text(),
          [&] { return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own); }));
  return fd;
}

Status send_advertisement(const Link& link, const ip::Address& address) {
  static constexpr std::array<uint8_t, 16> kAllNodes{0xff, 0x02, 0, 0, 0, 0, 0, 0,
                                                     0,    0,    0, 0, 0, 0, 0, 1};
  const std::vector<uint8_t> frame = encode_advertisement(link.address, address);
  const Fd fd = TRY(open_icmp6(link, address));
  const sockaddr_in6 to = name_of(link, kAllNodes);
  TRY(sys("send a neighbor advertisement", [&] {
    return ::sendto(fd.get(), frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                    sizeof to);
  }));
  return ok();
}

}  // namespace

std::vector<uint8_t> encode_arp(const HardwareAddress& own, const ip::Address& address) {
  std::vector<uint8_t> frame;
  put16(frame, kHardwareType);
  put16(frame, ETH_P_IP);
  frame.push_back(static_cast<uint8_t>(own.size()));
  frame.push_back(static_cast<uint8_t>(address.size()));
  put16(frame, kRequest);
  put(frame, own);
  put(frame, bytes_of(address));
  frame.resize(frame.size() + own.size());  // whose address is asked for: unknown
  put(frame, bytes_of(address));
  return frame;
}

std::vector<uint8_t> encode_advertisement(const HardwareAddress& own, const ip::Address& address) {
  std::vector<uint8_t> frame{ND_NEIGHBOR_ADVERT, 0, 0, 0};  // the kernel fills in the checksum
  put(frame, std::array<uint8_t, 4>{0x20, 0, 0, 0});  // override; neither router nor solicited
  put(frame, bytes_of(address));
  // Units of 8 bytes; the 20 bytes of address come after 2 reserved ones (RFC 4391 section 9.3).
  frame.push_back(kTargetLinkLayerAddress);
  frame.push_back(static_cast<uint8_t>((2 + 2 + own.size()) / 8));
  put16(frame, 0);
  put(frame, own);
  return frame;
}

Status announce(const Link& link, const HardwareAddress& broadcast, const ip::Address& address) {
  const std::string what = "announce " + address.text() + " on " + link.name;
  if (link.address.size() != kAddressSize || broadcast.size() != kAddressSize) {
    return Error(Code::unsupported, what + ": the link is not IPoIB");
  }
  if (address.family() == ip::Family::v6) return send_advertisement(link, address).during(what);
  return send_arp(link, broadcast, address).during(what);
}

}  // namespace ibpod::nl
