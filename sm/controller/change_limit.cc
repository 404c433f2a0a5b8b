#include "sm/controller/change_limit.h"

namespace ibpod::sm::controller {

// A node with a full bucket is treated as one without any change.
bool ChangeLimit::may_change(const std::string& node, Time now) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? settings_.burst >= 1 : found->second.left(now) >= 1;
}

void ChangeLimit::take(const std::string& node, Time now) {
  constexpr size_t kMany = 1024;
  if (nodes_.size() >= kMany && !nodes_.contains(node))
    std::erase_if(nodes_, [&](const auto& one) { return one.second.full(now); });
  nodes_.try_emplace(node, settings_.burst, settings_.per_second).first->second.spend(1, now);
}

}  // namespace ibpod::sm::controller
