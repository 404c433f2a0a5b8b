// Announces the new hardware address of an IP address to the neighbors on an IPoIB link.
#pragma once

#include "lib/base/result.h"
#include "lib/ip/prefix.h"
#include "lib/nl/rtnl.h"

namespace ibpod::nl {

// Sends a gratuitous ARP (RFC 4391 section 9.1.2: 20-byte hardware addresses) or an unsolicited
// neighbor advertisement with the override flag (RFC 4861 7.2.6, option format RFC 4391 9.3) from
// the calling thread's namespace. The link must be up with carrier and have the address (IPv6: no
// longer tentative). `broadcast` is the link's broadcast hardware address (IFLA_BROADCAST).
// unsupported for hardware addresses that do not have 20 bytes.
// || It updates existing entries of neighbors and creates none (arp_accept 0). The ARP packet is a
// request to itself, which Linux accepts at once whatever the entry's locktime; a reply would need
// a matching target hardware address, and some hosts drop unrequested replies. Nothing acknowledges
// it: a packet can be lost while the multicast group is joined, so the caller may repeat it after a
// second (RFC 4861: up to three times).
Status announce(const Link& link, const HardwareAddress& broadcast, const ip::Address& address);

// The frames' payloads, for tests.
std::vector<uint8_t> encode_arp(const HardwareAddress& own, const ip::Address& address);
std::vector<uint8_t> encode_advertisement(const HardwareAddress& own, const ip::Address& address);

}  // namespace ibpod::nl
