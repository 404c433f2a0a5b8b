#include "sm/steward/change_limit.h"

#include <algorithm>

namespace ibpod::sm {

double ChangeLimit::left(const Account& account, Time now) const {
  const std::chrono::duration<double> since = now - account.at;
  return std::min(settings_.burst,
                  account.left + std::max(0.0, since.count()) * settings_.per_second);
}

double ChangeLimit::left(const std::string& node, Time now) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? settings_.burst : left(found->second, now);
}

bool ChangeLimit::allows(const std::string& node, Time now) const { return left(node, now) >= 1; }

// A node whose account is full again is as one that has never changed anything.
void ChangeLimit::take(const std::string& node, Time now) {
  const double there = left(node, now);
  constexpr size_t kMany = 1024;
  if (nodes_.size() >= kMany && !nodes_.contains(node))
    std::erase_if(nodes_,
                  [&](const auto& one) { return left(one.second, now) >= settings_.burst; });
  nodes_[node] = {there - 1, now};
}

}  // namespace ibpod::sm
