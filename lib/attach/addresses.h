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
// none. denied if the node does not allow its type.
Result<std::optional<cni::Ipam>> ipam_of(const Context& context, const cni::Network& network);

// Gives back what the record's network may have reserved for it, by the configuration and arguments
// of its ADD; the plugin is looked for in this call's CNI_PATH, or in the ADD's if this call has
// none. A network without IPAM is a success. So is, with a warning, one whose IPAM the node does
// not allow any more: it is not run, and the addresses stay reserved.
Status release_addresses(const Context& context, const node::Record& record, Deadline deadline);

// What the kernel has to be told of a result.
node::Addressing addressing_of(const cni::AddResult& result);

}  // namespace ibpod::attach
