// GuidPool: the GUIDs that VFs are given, unique in the cluster.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/namespaces.h"
#include "lib/ib/guid.h"

#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace ibpod::sm::pool {

// Both ends included.
struct GuidRange {
  ib::Guid first, last;
  // Whose pods choose of it. None: VFs are given of it, and nobody chooses.
  fabric::Namespaces requested_by = {};
  bool operator==(const GuidRange&) const = default;
};

class GuidPool {
 public:
  // invalid where a `first` is above its `last`, an end could be no port's, two ranges have GUIDs
  // in common, or what chooses can be no namespace.
  static Result<GuidPool> make(const std::vector<GuidRange>& ranges);

  // Whether VFs are given any.
  bool can_assign() const;
  bool contains(ib::Guid guid) const;
  bool allows_request(ib::Guid guid, std::string_view name_space) const;
  // Whether pods of any namespace choose of any range.
  bool allows_any_request() const;
  // A free one: the next above `after`, and from the first again, so that one that has just become
  // free is used last. busy where all are `used`: in use are also those that a binding or a
  // quarantine names.
  Result<ib::Guid> next(const std::set<ib::Guid>& used, std::optional<ib::Guid> after) const;

 private:
  explicit GuidPool(std::vector<GuidRange> ranges) : ranges_(std::move(ranges)) {}
  const GuidRange* range_of(ib::Guid guid) const;
  std::optional<ib::Guid> free_from(const std::set<ib::Guid>& used, ib::Guid from) const;

  std::vector<GuidRange> ranges_;  // sorted
};

}  // namespace ibpod::sm::pool
