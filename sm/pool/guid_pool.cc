#include "sm/pool/guid_pool.h"

#include <algorithm>
#include <string>

namespace ibpod::sm::pool {
namespace {

std::string text(const GuidRange& range) { return range.first.text() + " to " + range.last.text(); }

ib::Guid above(ib::Guid guid) { return ib::Guid(guid.value() + 1); }

bool is_assignable(const GuidRange& range) { return range.requested_by.empty(); }

Status check_ends(const GuidRange& range) {
  const auto fits = is_assignable(range) ? ib::check_allocatable : ib::check_port_guid;
  TRY(fits(range.first));
  TRY(fits(range.last));
  TRY(fabric::check(range.requested_by).during("chosenBy"));
  if (range.first > range.last) return Error(Code::invalid, "first is greater than last");
  const bool one_kind = range.first.value() >> 56 == range.last.value() >> 56;
  if (one_kind) return ok();
  return Error(Code::invalid, "first and last must begin with the same byte");
}

Status check_apart(const GuidRange& lower, const GuidRange& upper) {
  if (lower.last < upper.first) return ok();
  return Error(Code::invalid, "GUID ranges " + text(lower) + " and " + text(upper) + " overlap");
}

// The lowest free GUID of the range, starting at `from`. Iterates only over used ones: the range
// may be huge.
std::optional<ib::Guid> free_in(const GuidRange& range, const std::set<ib::Guid>& used,
                                ib::Guid from) {
  ib::Guid candidate = std::max(range.first, from);
  for (auto taken = used.lower_bound(candidate);
       candidate <= range.last && taken != used.end() && *taken == candidate; ++taken)
    candidate = above(candidate);
  return candidate <= range.last ? std::optional(candidate) : std::nullopt;
}

}  // namespace

Result<GuidPool> GuidPool::make(const std::vector<GuidRange>& ranges) {
  std::vector<GuidRange> sorted = ranges;
  std::sort(sorted.begin(), sorted.end(),
            [](const GuidRange& a, const GuidRange& b) { return a.first < b.first; });
  for (const GuidRange& range : sorted) TRY(check_ends(range).during("GUID range " + text(range)));
  for (size_t i = 1; i < sorted.size(); ++i) TRY(check_apart(sorted[i - 1], sorted[i]));
  return GuidPool(std::move(sorted));
}

bool GuidPool::can_assign() const {
  return std::any_of(ranges_.begin(), ranges_.end(), is_assignable);
}

const GuidRange* GuidPool::range_of(ib::Guid guid) const {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), [&](const GuidRange& range) {
    return range.first <= guid && guid <= range.last;
  });
  return found == ranges_.end() ? nullptr : &*found;
}

bool GuidPool::contains(ib::Guid guid) const { return range_of(guid) != nullptr; }

bool GuidPool::allows_request(ib::Guid guid, std::string_view name_space) const {
  const GuidRange* const range = range_of(guid);
  return range != nullptr && fabric::contains(range->requested_by, name_space);
}

bool GuidPool::allows_any_request() const {
  return !std::all_of(ranges_.begin(), ranges_.end(), is_assignable);
}

Result<ib::Guid> GuidPool::next(const std::set<ib::Guid>& used,
                                std::optional<ib::Guid> after) const {
  std::optional<ib::Guid> found;
  if (after) found = free_from(used, above(*after));
  if (!found) found = free_from(used, ib::Guid(0));
  if (found) return *found;
  return Error(Code::busy,
               "no GUID is free in the pool; add a range to \"guids\" in ibpod-sm's configuration");
}

std::optional<ib::Guid> GuidPool::free_from(const std::set<ib::Guid>& used, ib::Guid from) const {
  for (const GuidRange& range : ranges_) {
    if (!is_assignable(range)) continue;
    if (const auto found = free_in(range, used, from)) return found;
  }
  return std::nullopt;
}

}  // namespace ibpod::sm::pool
