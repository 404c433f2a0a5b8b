// GuidPool: the GUIDs that VFs are given, unique in the cluster.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/guid.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ibpod::sm {

// Both ends included.
struct GuidRange {
  ib::Guid first, last;
  bool operator==(const GuidRange&) const = default;
};

class GuidPool {
 public:
  // invalid where a `first` is above its `last`, an end could be no port's, or two ranges have
  // GUIDs in common.
  static Result<GuidPool> make(const std::vector<GuidRange>& ranges);

  bool empty() const { return ranges_.empty(); }
  bool contains(ib::Guid guid) const;
  // A free one: the next above `after`, and from the first again, so that one that has just become
  // free is used last. busy where all are `used`: in use are also those that a binding or a
  // quarantine names.
  Result<ib::Guid> next(const std::set<ib::Guid>& used, std::optional<ib::Guid> after) const;

 private:
  explicit GuidPool(std::vector<GuidRange> ranges) : ranges_(std::move(ranges)) {}
  std::optional<ib::Guid> free_from(const std::set<ib::Guid>& used, ib::Guid from) const;

  std::vector<GuidRange> ranges_;  // sorted
};

}  // namespace ibpod::sm
