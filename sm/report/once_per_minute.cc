#include "sm/report/once_per_minute.h"

#include <utility>

namespace ibpod::sm {
namespace {

constexpr std::chrono::minutes kApart{1};
constexpr size_t kMost = 1000;

}  // namespace

std::optional<size_t> OncePerMinute::due(const std::string& kind, Time now) {
  if (!kinds_.contains(kind) && kinds_.size() >= kMost)
    std::erase_if(kinds_, [now](const auto& one) { return one.second.next <= now; });
  if (!kinds_.contains(kind) && kinds_.size() >= kMost) return std::nullopt;
  const auto [found, is_new] = kinds_.try_emplace(kind, Kind{now, 0});
  Kind& one = found->second;
  if (now < one.next) return ++one.since, std::nullopt;
  one.next = now + kApart;
  return std::exchange(one.since, 0);
}

}  // namespace ibpod::sm
