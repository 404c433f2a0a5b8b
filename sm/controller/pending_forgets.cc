#include "sm/controller/pending_forgets.h"

#include <algorithm>

namespace ibpod::sm::controller {

void PendingForgets::answer(const bindings::NodeRegistry& nodes, Time now) {
  for (Call& call : std::exchange(calls_, {})) {
    std::optional<v1::FabricNode> node = nodes.find(call.node);
    if (node && call.until > now) {
      calls_.push_back(std::move(call));
      continue;
    }
    if (!node) node.emplace().set_name(call.node);
    call.done(std::move(*node));
  }
}

std::optional<PendingForgets::Time> PendingForgets::due() const {
  const auto first = std::min_element(
      calls_.begin(), calls_.end(), [](const Call& a, const Call& b) { return a.until < b.until; });
  return first == calls_.end() ? std::nullopt : std::optional(first->until);
}

}  // namespace ibpod::sm::controller
