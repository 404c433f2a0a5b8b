#include "sm/controller/watches.h"

#include <algorithm>

namespace ibpod::sm {

class Watches::One final : public fabricapi::Fabric::Watch {
 public:
  One(fabricapi::BindingFilter filter, Told told)
      : filter_(std::move(filter)), told_(std::move(told)) {}

  // Whether it goes on.
  bool tell(const fabricapi::BindingChange& change) {
    return !matches(filter_, change.binding) || told_(change);
  }

 private:
  const fabricapi::BindingFilter filter_;
  const Told told_;
};

std::shared_ptr<fabricapi::Fabric::Watch> Watches::add(fabricapi::BindingFilter filter, Told told) {
  auto watch = std::make_shared<One>(std::move(filter), std::move(told));
  watches_.push_back(watch);
  return watch;
}

void Watches::tell(const std::vector<fabricapi::BindingChange>& changes) {
  if (changes.empty()) return;
  std::erase_if(watches_, [&](const std::weak_ptr<One>& weak) {
    const std::shared_ptr<One> watch = weak.lock();
    if (!watch) return true;
    return !std::all_of(
        changes.begin(), changes.end(),
        [&](const fabricapi::BindingChange& change) { return watch->tell(change); });
  });
}

}  // namespace ibpod::sm
