#include "sm/pool/pkey_pool.h"

#include "lib/base/join.h"

#include <algorithm>

namespace ibpod::sm::pool {
namespace {

std::string text(uint16_t partition) { return ib::PKey(partition).text(); }
std::string text(const PKeyRange& range) { return text(range.first) + "-" + text(range.last); }

bool contains(const PKeyRange& range, uint16_t partition) {
  return range.first <= partition && partition <= range.last;
}

Status check(const PKeyRange& range) {
  if (range.first > range.last) {
    return Error(Code::invalid, "P_Key range " + text(range) + ": first is greater than last");
  }
  if (range.first >= 0x0001 && range.last <= 0x7ffe) return ok();
  return Error(Code::invalid,
               "P_Key range " + text(range) + ": expected P_Keys from 0x0001 to 0x7ffe");
}

Status check_apart(const PKeyRange& lower, const PKeyRange& upper) {
  if (lower.last < upper.first) return ok();
  return Error(Code::invalid, "P_Key ranges " + text(lower) + " and " + text(upper) + " overlap");
}

std::string list(const std::vector<PKeyRange>& ranges, RangeUse use) {
  std::string text;
  for (const PKeyRange& range : ranges)
    if (range.use == use) add_item(text, ", ", sm::pool::text(range));
  return text.empty() ? "none is configured" : text;
}

// The lowest free number of the range, starting at `from`.
std::optional<uint16_t> free_in(const PKeyRange& range, const PKeyPool::Partitions& used,
                                uint32_t from) {
  for (uint32_t number = std::max<uint32_t>(range.first, from); number <= range.last; ++number)
    if (!used.contains(static_cast<uint16_t>(number))) return static_cast<uint16_t>(number);
  return std::nullopt;
}

std::optional<uint16_t> free_in(const std::vector<PKeyRange>& ranges,
                                const PKeyPool::Partitions& used, uint32_t from) {
  for (const PKeyRange& range : ranges) {
    if (range.use != RangeUse::automatic) continue;
    const std::optional<uint16_t> found = free_in(range, used, from);
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

Result<PKeyPool> PKeyPool::make(const std::vector<PKeyRange>& ranges) {
  std::vector<PKeyRange> sorted = ranges;
  std::sort(sorted.begin(), sorted.end(),
            [](const PKeyRange& a, const PKeyRange& b) { return a.first < b.first; });
  for (const PKeyRange& range : sorted) TRY(check(range));
  for (size_t i = 1; i < sorted.size(); ++i) TRY(check_apart(sorted[i - 1], sorted[i]));
  return PKeyPool(std::move(sorted));
}

Status PKeyPool::allows(ib::PKey key) const {
  TRY(ib::check_tenant(key));
  for (const PKeyRange& range : ranges_)
    if (range.use == RangeUse::by_request && contains(range, key.partition())) return ok();
  return Error(Code::invalid, "P_Key " + text(key.partition()) +
                                  " is in no range of \"pkeys\" whose \"use\" is \"explicit\" (" +
                                  list(ranges_, RangeUse::by_request) + ")");
}

Result<ib::PKey> PKeyPool::next(const Partitions& used, std::optional<uint16_t> after) const {
  std::optional<uint16_t> found;
  if (after) found = free_in(ranges_, used, *after + 1U);
  if (!found) found = free_in(ranges_, used, 0);
  if (found) return ib::PKey(*found);
  return Error(Code::busy, "no P_Key is free in the automatic ranges (" +
                               list(ranges_, RangeUse::automatic) +
                               "); add a range to \"pkeys\" in ibpod-sm's configuration");
}

Status PKeyPool::covers(const Partitions& used) const {
  std::string outside;
  for (const uint16_t partition : used) {
    const bool inside = std::any_of(ranges_.begin(), ranges_.end(), [&](const PKeyRange& range) {
      return contains(range, partition);
    });
    if (!inside) add_item(outside, ", ", text(partition));
  }
  if (outside.empty()) return ok();
  return Error(Code::invalid, "P_Keys of existing partitions are in no range of \"pkeys\": " +
                                  outside + "; add ranges for them");
}

}  // namespace ibpod::sm::pool
