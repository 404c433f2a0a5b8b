// VersionHistory: the version of the partitions that was in place at each time. A reading of a
// port's table counts for a version only if it began after that version was in place.
#pragma once

#include "lib/base/clock.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace ibpod::sm::verify {

class VersionHistory {
 public:
  using Time = Deadline::Clock::time_point;

  // `epoch`: unique to this process; part of its stamps.
  explicit VersionHistory(std::string epoch) : epoch_(std::move(epoch)) {}

  // If the generation has changed, forgets all versions and invalidates all stamps: other
  // partitions may have been in place.
  void reset(uint64_t generation);
  // Records that `version` is in place since `now`. Ignored unless it is above the newest one.
  void record(uint64_t version, Time now);

  uint64_t newest() const { return entries_.empty() ? 0 : entries_.back().version; }
  // The newest version that was in place at `time`; 0: none, or too long ago to be known.
  uint64_t at(Time time) const;

  // The name of the present version. A node reads its tables after it has received the stamp, and
  // returns it with the report.
  std::string stamp() const;
  // The version that was in place when the stamp was made; 0 if the stamp is not from this object.
  uint64_t at(std::string_view stamp) const;

 private:
  struct Entry {
    uint64_t version;
    Time time;
  };
  std::string prefix() const;
  std::string epoch_;
  uint64_t generation_ = 0;
  std::deque<Entry> entries_;  // in ascending order of both
};

}  // namespace ibpod::sm::verify
