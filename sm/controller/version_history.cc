#include "sm/controller/version_history.h"

#include <algorithm>
#include <charconv>

namespace ibpod::sm {
namespace {

// More than any reading is behind.
constexpr size_t kMost = 256;

}  // namespace

void Placements::begin(uint64_t era) {
  if (era == era_) return;
  era_ = era;
  placed_.clear();
}

void Placements::placed(uint64_t version, Time now) {
  if (version <= newest()) return;
  placed_.push_back({version, now});
  if (placed_.size() > kMost) placed_.pop_front();
}

uint64_t Placements::at(Time time) const {
  const auto later = std::upper_bound(placed_.begin(), placed_.end(), time,
                                      [](Time t, const Placed& one) { return t < one.time; });
  return later == placed_.begin() ? 0 : std::prev(later)->version;
}

std::string Placements::prefix() const { return epoch_ + "-" + std::to_string(era_) + "-"; }

std::string Placements::stamp() const { return prefix() + std::to_string(newest()); }

uint64_t Placements::at(std::string_view stamp) const {
  const std::string ours = prefix();
  if (!stamp.starts_with(ours)) return 0;
  stamp.remove_prefix(ours.size());
  uint64_t version = 0;
  const char* const end = stamp.data() + stamp.size();
  const auto read = std::from_chars(stamp.data(), end, version);
  if (read.ec != std::errc() || read.ptr != end) return 0;
  return version <= newest() ? version : 0;
}

}  // namespace ibpod::sm
