#include "sm/controller/postponed_binds.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ibpod::sm::controller {

template <typename Predicate>
std::vector<PostponedBind> PostponedBinds::take_if(const Predicate& is_taken) {
  const auto first = std::stable_partition(
      binds_.begin(), binds_.end(), [&](const PostponedBind& bind) { return !is_taken(bind); });
  std::vector<PostponedBind> taken(std::make_move_iterator(first),
                                   std::make_move_iterator(binds_.end()));
  binds_.erase(first, binds_.end());
  return taken;
}

std::vector<PostponedBind> PostponedBinds::take_ready() {
  const std::set<ib::Guid> released = std::exchange(released_, {});
  return take_if([&](const PostponedBind& bind) { return released.contains(bind.request.guid); });
}

std::vector<PostponedBind> PostponedBinds::take_expired(Time now) {
  return take_if([now](const PostponedBind& bind) {
    return bind.context.is_cancelled() || bind.until <= now;
  });
}

std::vector<PostponedBind> PostponedBinds::take(const fabric::Attachment& attachment) {
  return take_if([&](const PostponedBind& bind) { return bind.request.attachment == attachment; });
}

std::optional<PostponedBinds::Time> PostponedBinds::due() const {
  const auto first = std::min_element(
      binds_.begin(), binds_.end(),
      [](const PostponedBind& a, const PostponedBind& b) { return a.until < b.until; });
  return first == binds_.end() ? std::nullopt : std::optional(first->until);
}

}  // namespace ibpod::sm::controller
