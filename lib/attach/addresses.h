// Addresses: asked of the network's IPAM plugin, given back to it.
#pragma once

#include "lib/attach/context.h"
#include "lib/cni/ipam.h"
#include "lib/cni/result.h"
#include "lib/node/record.h"

#include <optional>

namespace ibpod::attach {

// It cannot serve InfiniBand: its daemon builds requests from 6-byte Ethernet addresses.
inline constexpr std::string_view kDhcp = "dhcp";

// A network's IPAM, ready to be called for the attachment of this call; nothing where it has
// none.
Result<std::optional<cni::Ipam>> ipam_of(const cni::Network& network, const cni::Call& call);

// Gives back what the record's network may have reserved for it, as the ADD was called: without the
// runtime's help. A network without IPAM is a success.
Status release_addresses(const Context& context, const node::Record& record, Deadline deadline);

// What the kernel has to be told of a result.
node::Addressing addressing_of(const cni::AddResult& result);

}  // namespace ibpod::attach
