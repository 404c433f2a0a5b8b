// PKeyPool: which P_Keys ibpod may use for partitions; the rest of the fabric's are the
// administrator's.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/pkey.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace ibpod::sm::pool {

// Who names a key of a range: ibpod, or whoever creates the partition.
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

  // invalid with the range that is reversed, shares a number with another one, or has 0x0000 or
  // 0x7fff in it, which are no tenant's.
  static Result<PKeyPool> make(const std::vector<PKeyRange>& ranges);

  // Whether a partition may be created with this key: invalid outside the ranges by request.
  Status allows(ib::PKey key) const;
  // A free key of an automatic range, as a limited one (bit 15 clear): the next one above `after`,
  // and from the lowest again, so that a key that has just become free is used last. busy where all
  // are `used`.
  Result<ib::PKey> next(const Partitions& used, std::optional<uint16_t> after) const;
  // Whether every key in use lies in some range: invalid with those that do not.
  Status covers(const Partitions& used) const;

 private:
  explicit PKeyPool(std::vector<PKeyRange> ranges) : ranges_(std::move(ranges)) {}
  std::vector<PKeyRange> ranges_;  // in order
};

}  // namespace ibpod::sm::pool
