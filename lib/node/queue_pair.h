// Queue pairs of IPoIB interfaces: which of them the kernel tells of, by their numbers.
#pragma once

#include "lib/node/kernel.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ibpod::node {

// Bytes 1 to 3 of an IPoIB hardware address (RFC 4391 section 9.1.1): no two interfaces of an
// adapter have one at the same time, and no pod can change it.
inline std::optional<uint32_t> queue_pair_of(const nl::HardwareAddress& address) {
  if (address.size() < 4) return std::nullopt;
  return uint32_t{address[1]} << 16 | uint32_t{address[2]} << 8 | address[3];
}
inline std::optional<uint32_t> queue_pair_of(const Netdev& netdev) {
  return queue_pair_of(netdev.address);
}

// True if the kernel's list (Kernel::ipoib_queue_pairs) has the one of this address.
inline bool has_queue_pair(const std::vector<uint32_t>& listed,
                           const nl::HardwareAddress& address) {
  const std::optional<uint32_t> number = queue_pair_of(address);
  return number && std::find(listed.begin(), listed.end(), *number) != listed.end();
}
inline bool has_queue_pair(const std::vector<uint32_t>& listed, const Netdev& netdev) {
  return has_queue_pair(listed, netdev.address);
}

}  // namespace ibpod::node
