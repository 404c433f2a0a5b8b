#include "sm/verify/version_history.h"

#include <algorithm>
#include <charconv>

namespace ibpod::sm::verify {
namespace {

// More versions than can come during one reading.
constexpr size_t kMost = 256;

}  // namespace

void VersionHistory::reset(uint64_t generation) {
  if (generation == generation_) return;
  generation_ = generation;
  entries_.clear();
}

void VersionHistory::record(uint64_t version, Time now) {
  if (version <= newest()) return;
  entries_.push_back({version, now});
  if (entries_.size() > kMost) entries_.pop_front();
}

uint64_t VersionHistory::at(Time time) const {
  const auto later = std::upper_bound(entries_.begin(), entries_.end(), time,
                                      [](Time t, const Entry& one) { return t < one.time; });
  return later == entries_.begin() ? 0 : std::prev(later)->version;
}

std::string VersionHistory::prefix() const {
  return epoch_ + "-" + std::to_string(generation_) + "-";
}

std::string VersionHistory::stamp() const { return prefix() + std::to_string(newest()); }

uint64_t VersionHistory::at(std::string_view stamp) const {
  const std::string ours = prefix();
  if (!stamp.starts_with(ours)) return 0;
  stamp.remove_prefix(ours.size());
  uint64_t version = 0;
  const char* const end = stamp.data() + stamp.size();
  const auto read = std::from_chars(stamp.data(), end, version);
  if (read.ec != std::errc() || read.ptr != end) return 0;
  return version <= newest() ? version : 0;
}

}  // namespace ibpod::sm::verify
