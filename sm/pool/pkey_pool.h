// PKeyPool: the ranges of P_Keys that ibpod may use for partitions. All others are the
// administrator's.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/pkey.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace ibpod::sm::pool {

// The use of a range: ibpod-sm assigns its keys (automatic), or the creator of a partition names
// one (by_request).
enum class RangeUse { automatic, by_request };

// 15-bit partition numbers (ib::PKey::partition), both ends included.
struct PKeyRange {
  uint16_t first = 0;
  uint16_t last = 0;
  RangeUse use = RangeUse::automatic;
  bool operator==(const PKeyRange&) const = default;
};

class PKeyPool {
 public:
  using Partitions = std::set<uint16_t>;

  // invalid if `first` is greater than `last`, if two ranges overlap, or if one contains 0x0000 or
  // 0x7fff.
  static Result<PKeyPool> make(const std::vector<PKeyRange>& ranges);

  // Checks that a partition can be created with this key: invalid outside the by_request ranges.
  Status allows(ib::PKey key) const;
  // The next free key in the automatic ranges after `after`, or else from the lowest one on: a key
  // that has just become free is reused last. Bit 15 is clear. busy if there is none.
  Result<ib::PKey> next(const Partitions& used, std::optional<uint16_t> after) const;
  // invalid, with the keys, if any key is in no range.
  Status covers(const Partitions& used) const;

 private:
  explicit PKeyPool(std::vector<PKeyRange> ranges) : ranges_(std::move(ranges)) {}
  std::vector<PKeyRange> ranges_;  // sorted
};

}  // namespace ibpod::sm::pool
