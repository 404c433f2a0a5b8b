// Placements: the version of the partitions that UFM has, and the one that its subnet manager has
// surely read, because UFM has had it for long enough. No clock: the time is an argument.
#pragma once

#include "lib/base/clock.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace ibpod::sm::ufm {

class Placements {
 public:
  using Time = Deadline::Clock::time_point;

  // `effect`: from UFM's answer to the end of its subnet manager's sweep, at most.
  explicit Placements(Duration effect) : effect_(effect) {}

  // UFM has all of this version. Ignored unless it is above the last one.
  void placed(uint64_t version, Time now) {
    if (version <= placed_) return;
    placed_ = version;
    pending_.emplace_back(version, now + effect_);
    // Under a flow of versions, several of them share one time, the later one.
    if (pending_.size() > kMost) pending_.erase(pending_.begin() + kMost / 2);
  }
  // UFM does not have it any more.
  void lost() {
    placed_ = swept_ = 0;
    pending_.clear();
  }
  void advance(Time now) {
    for (; !pending_.empty() && pending_.front().second <= now; pending_.pop_front())
      swept_ = pending_.front().first;
  }

  uint64_t placed() const { return placed_; }
  // As of the last advance().
  uint64_t swept() const { return swept_; }
  // When advance() has something to do; nothing: it does not.
  std::optional<Time> due() const {
    return pending_.empty() ? std::nullopt : std::optional(pending_.front().second);
  }

 private:
  static constexpr size_t kMost = 1024;
  Duration effect_;
  uint64_t placed_ = 0;
  uint64_t swept_ = 0;
  std::deque<std::pair<uint64_t, Time>> pending_;
};

}  // namespace ibpod::sm::ufm
