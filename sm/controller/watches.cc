#include "sm/controller/watches.h"

#include <algorithm>

namespace ibpod::sm::controller {

class Watches::Watcher final : public fabricapi::Watch {
 public:
  Watcher(fabricapi::BindingFilter filter, Callback on_change)
      : filter_(std::move(filter)), callback_(std::move(on_change)) {}

  // Returns false if the watch has ended.
  bool notify(const fabricapi::BindingChange& change) {
    return !matches(filter_, change.binding) || callback_(change);
  }

 private:
  const fabricapi::BindingFilter filter_;
  const Callback callback_;
};

std::shared_ptr<fabricapi::Watch> Watches::add(fabricapi::BindingFilter filter,
                                               Callback on_change) {
  auto watch = std::make_shared<Watcher>(std::move(filter), std::move(on_change));
  watchers_.push_back(watch);
  return watch;
}

void Watches::notify(const std::vector<fabricapi::BindingChange>& changes) {
  if (changes.empty()) return;
  std::erase_if(watchers_, [&](const std::weak_ptr<Watcher>& weak) {
    const std::shared_ptr<Watcher> watch = weak.lock();
    if (!watch) return true;
    return !std::all_of(
        changes.begin(), changes.end(),
        [&](const fabricapi::BindingChange& change) { return watch->notify(change); });
  });
}

}  // namespace ibpod::sm::controller
