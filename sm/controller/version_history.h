// Placements: since when the subnet manager's sweeps have been reading which version of the
// partitions. What was seen in a port's table says something of a version only where it was read
// after that.
#pragma once

#include "lib/base/clock.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace ibpod::sm::controller {

class VersionHistory {
 public:
  using Time = Deadline::Clock::time_point;

  // `epoch`: of this process, unlike that of any other; part of its stamps.
  explicit VersionHistory(std::string epoch) : epoch_(std::move(epoch)) {}

  // Of another era all is forgotten, stamps too: something that is not ours has been in place.
  void reset(uint64_t era);
  // The engine says so now; what is not above the last version changes nothing.
  void record(uint64_t version, Time now);

  uint64_t newest() const { return entries_.empty() ? 0 : entries_.back().version; }
  // The newest version that was in place by then; 0: none, or it was too long ago to be known.
  uint64_t at(Time time) const;

  // Names what is in place now, for a node that reads its tables after it has heard of it.
  std::string stamp() const;
  // The version that was in place when this stamp was given away; 0 for whatever is none of ours.
  uint64_t at(std::string_view stamp) const;

 private:
  struct Entry {
    uint64_t version;
    Time time;
  };
  std::string prefix() const;
  std::string epoch_;
  uint64_t generation_ = 0;
  std::deque<Entry> entries_;  // both rising
};

}  // namespace ibpod::sm::controller
