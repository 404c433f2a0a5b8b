#include "sm/pool/guid_pool.h"

namespace ibpod::sm {

Result<GuidPool> GuidPool::make(ib::Guid first, ib::Guid last) {
  TRY(ib::check_assignable(first));
  TRY(ib::check_assignable(last));
  const bool one_kind = (first.value() >> 56) == (last.value() >> 56);
  if (first > last) {
    return Error(Code::invalid, "GUID range " + first.text() + " to " + last.text() +
                                    ": the first is above the last");
  }
  if (one_kind) return GuidPool(first, last);
  return Error(Code::invalid, "GUID range " + first.text() + " to " + last.text() +
                                  ": both ends have to begin with the same byte");
}

Result<ib::Guid> GuidPool::next(const std::set<ib::Guid>& used,
                                std::optional<ib::Guid> after) const {
  std::optional<ib::Guid> found;
  if (after && contains(*after) && *after != last_) found = free_from(used, after->value() + 1);
  if (!found) found = free_from(used, first_.value());
  if (found) return *found;
  return Error(Code::busy, "no GUID is free between " + first_.text() + " and " + last_.text());
}

// Walks along those in use only: the range may be as large as GUIDs are.
std::optional<ib::Guid> GuidPool::free_from(const std::set<ib::Guid>& used, uint64_t from) const {
  ib::Guid candidate(from);
  for (auto taken = used.lower_bound(candidate); taken != used.end() && *taken == candidate;
       ++taken) {
    if (candidate == last_) return std::nullopt;
    candidate = ib::Guid(candidate.value() + 1);
  }
  return candidate;
}

}  // namespace ibpod::sm
