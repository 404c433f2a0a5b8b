// Watches: clients that watch the changes of some bindings.
#pragma once

#include "lib/fabricapi/calls.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace ibpod::sm::controller {

// For one thread, except that a Watch may be dropped on any thread; it gets no changes afterwards.
class Watches {
 public:
  // Returns false to end the watch.
  using Callback = std::function<bool(const fabricapi::BindingChange&)>;

  std::shared_ptr<fabricapi::Watch> add(fabricapi::BindingFilter filter, Callback on_change);
  void notify(const std::vector<fabricapi::BindingChange>& changes);

 private:
  class Watcher;
  std::vector<std::weak_ptr<Watcher>> watchers_;
};

}  // namespace ibpod::sm::controller
