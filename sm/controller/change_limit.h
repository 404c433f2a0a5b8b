// ChangeLimit: a rate limit for changes by one node's Binds. Each change costs a write to disk, a
// line in the audit log and a sweep.
#pragma once

#include "lib/base/token_bucket.h"

#include <cstddef>
#include <map>
#include <string>

namespace ibpod::sm::controller {

class ChangeLimit {
 public:
  using Time = TokenBucket::Time;

  // The burst is enough for a node with 64 VFs whose pods all restart.
  struct Settings {
    double per_second = 50;
    double burst = 500;
  };
  explicit ChangeLimit(Settings settings) : settings_(settings) {}

  // True if the node may make a change now. Call take() after the change.
  bool may_change(const std::string& node, Time now) const;
  void take(const std::string& node, Time now);

  // The number of nodes with recent changes.
  size_t size() const { return nodes_.size(); }
  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
  std::map<std::string, TokenBucket> nodes_;
};

}  // namespace ibpod::sm::controller
