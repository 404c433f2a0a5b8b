#include "lib/node/hidden_children.h"

#include "lib/node/queue_pair.h"

#include <algorithm>

namespace ibpod::node {
namespace {

// Or may have.
Result<bool> has_children_anywhere(Kernel& kernel, const std::vector<Netdev>& parents,
                                   Deadline deadline) {
  bool found = false;
  const auto look = [&](const Namespace& where) -> Result<bool> {
    const std::vector<Netdev> netdevs = TRY(kernel.ipoib_netdevs(where));
    for (const Netdev& parent : parents) {
      found = found || std::any_of(netdevs.begin(), netdevs.end(), [&](const Netdev& netdev) {
                return nl::is_ipoib_child(netdev, parent);
              });
    }
    return found;
  };
  const std::optional<Error> gap = TRY(kernel.each_namespace(deadline, look));
  return found || gap;
}

}  // namespace

Result<bool> has_hidden_children(Kernel& kernel, const ib::PciAddress& device, Deadline deadline) {
  const std::vector<Netdev> own = TRY(kernel.own_netdevs(kHost, device));
  std::vector<uint32_t> pairs = TRY(kernel.ipoib_queue_pairs(device));
  const bool told = std::all_of(
      own.begin(), own.end(), [&](const Netdev& netdev) { return has_queue_pair(pairs, netdev); });
  if (!told) return has_children_anywhere(kernel, own, deadline);
  const std::vector<Netdev> seen = TRY(kernel.netdevs(kHost, device));
  return std::any_of(pairs.begin(), pairs.end(), [&](uint32_t pair) {
    return std::none_of(seen.begin(), seen.end(),
                        [&](const Netdev& netdev) { return queue_pair_of(netdev) == pair; });
  });
}

}  // namespace ibpod::node
