// GuidPool: the GUIDs that VFs are given, unique in the cluster.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/guid.h"

#include <optional>
#include <set>

namespace ibpod::sm {

// Both ends included.
class GuidPool {
 public:
  // invalid where `first` is above `last`, or an end could be no port's.
  static Result<GuidPool> make(ib::Guid first, ib::Guid last);

  bool contains(ib::Guid guid) const { return first_ <= guid && guid <= last_; }
  // A free one: the next above `after`, and from the first again, so that one that has just become
  // free is used last. busy where all are `used`: in use are also those that a binding or a
  // quarantine names.
  Result<ib::Guid> next(const std::set<ib::Guid>& used, std::optional<ib::Guid> after) const;

 private:
  GuidPool(ib::Guid first, ib::Guid last) : first_(first), last_(last) {}
  std::optional<ib::Guid> free_from(const std::set<ib::Guid>& used, uint64_t from) const;

  ib::Guid first_, last_;
};

}  // namespace ibpod::sm
