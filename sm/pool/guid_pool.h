// GuidPool: the ranges of GUIDs for VFs, unique in the cluster.
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
  // The namespaces whose pods may request a GUID of the range. Empty: GUIDs of the range are
  // assigned to VFs, and none can be requested.
  fabric::Namespaces requested_by = {};
  bool operator==(const GuidRange&) const = default;
};

class GuidPool {
 public:
  // invalid if `first` is greater than `last`, if one of them is not a port GUID, if two ranges
  // overlap, or if `requested_by` has an invalid name.
  static Result<GuidPool> make(const std::vector<GuidRange>& ranges);

  // True if a range is for assignment to VFs.
  bool can_assign() const;
  bool contains(ib::Guid guid) const;
  bool allows_request(ib::Guid guid, std::string_view name_space) const;
  // True if a range is for requests by pods.
  bool allows_any_request() const;
  // The next free GUID after `after`, or else from the first one on: a GUID that has just become
  // free is reused last. busy if there is none.
  Result<ib::Guid> next(const std::set<ib::Guid>& used, std::optional<ib::Guid> after) const;

 private:
  explicit GuidPool(std::vector<GuidRange> ranges) : ranges_(std::move(ranges)) {}
  const GuidRange* range_of(ib::Guid guid) const;
  std::optional<ib::Guid> free_from(const std::set<ib::Guid>& used, ib::Guid from) const;

  std::vector<GuidRange> ranges_;  // sorted
};

}  // namespace ibpod::sm::pool
