// Watches: who wants to hear of every change of some bindings.
#pragma once

#include "lib/fabricapi/fabric.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace ibpod::sm::controller {

// For one thread; only a Watch goes on whatever thread drops it last, and is not told from then on.
class Watches {
 public:
  using Callback = std::function<bool(const fabricapi::BindingChange&)>;

  std::shared_ptr<fabricapi::Fabric::Watch> add(fabricapi::BindingFilter filter,
                                                Callback engine_members);
  void notify(const std::vector<fabricapi::BindingChange>& changes);

 private:
  class Watcher;
  std::vector<std::weak_ptr<Watcher>> watchers_;
};

}  // namespace ibpod::sm::controller
