// Tells the neighbours on an IPoIB link at once where an address lives now.
#pragma once

#include "lib/base/result.h"
#include "lib/ip/prefix.h"
#include "lib/nl/rtnl.h"

namespace ibpod::nl {

// Sends a gratuitous ARP (RFC 4391 section 9.1.2: 20-byte hardware addresses) or an unsolicited
// neighbour advertisement with the override flag (RFC 4861 7.2.6, option format RFC 4391 9.3) for
// the address, from the namespace that the calling thread is in. The link must be up with carrier
// and have the address (IPv6: no longer tentative). `broadcast` is the link's own broadcast
// hardware address (IFLA_BROADCAST). unsupported for anything but 20-byte hardware addresses.
//
// It corrects what neighbours know already and teaches nobody anew (arp_accept 0). The ARP packet
// is a request to itself, which Linux believes at once whatever the entry's locktime; of a reply it
// would ask for a matching target hardware address, and some hosts drop replies that nobody asked
// for. Nothing acknowledges it: while the multicast group is being joined a packet can be lost, so
// the caller may repeat it after a second (RFC 4861: up to three times).
Status announce(const Link& link, const HardwareAddress& broadcast, const ip::Address& address);

// The frames' payloads, for tests.
std::vector<uint8_t> encode_arp(const HardwareAddress& own, const ip::Address& address);
std::vector<uint8_t> encode_advertisement(const HardwareAddress& own, const ip::Address& address);

}  // namespace ibpod::nl
