#include "sm/steward/placements.h"

#include <algorithm>
#include <charconv>

namespace ibpod::sm {
namespace {

// More than any reading is behind.
constexpr size_t kMost = 256;

}  // namespace

void Placements::placed(uint64_t version, Time now) {
  if (version == 0) {
    forgotten_ = std::max(forgotten_, newest());
    placed_.clear();
    return;
  }
  if (version <= newest()) return;
  placed_.push_back({version, now});
  if (placed_.size() > kMost) placed_.pop_front();
}

uint64_t Placements::at(Time time) const {
  const auto later = std::upper_bound(placed_.begin(), placed_.end(), time,
                                      [](Time t, const Placed& one) { return t < one.time; });
  return later == placed_.begin() ? 0 : std::prev(later)->version;
}

std::string Placements::stamp() const { return epoch_ + "-" + std::to_string(newest()); }

uint64_t Placements::at(std::string_view stamp) const {
  const size_t dash = epoch_.size();
  if (!stamp.starts_with(epoch_) || stamp.size() <= dash || stamp[dash] != '-') return 0;
  uint64_t version = 0;
  const char* const end = stamp.data() + stamp.size();
  const auto read = std::from_chars(stamp.data() + dash + 1, end, version);
  if (read.ec != std::errc() || read.ptr != end) return 0;
  return version <= newest() && version > forgotten_ ? version : 0;
}

}  // namespace ibpod::sm
