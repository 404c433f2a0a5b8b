// Watches: who wants to hear of every change of some bindings.
#pragma once

#include "lib/fabricapi/fabric.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace ibpod::sm {

// For one thread; only a Watch goes on whatever thread drops it last, and is not told from then on.
class Watches {
 public:
  using Told = std::function<bool(const fabricapi::BindingChange&)>;

  std::shared_ptr<fabricapi::Fabric::Watch> add(fabricapi::BindingFilter filter, Told told);
  void tell(const std::vector<fabricapi::BindingChange>& changes);

 private:
  class One;
  std::vector<std::weak_ptr<One>> watches_;
};

}  // namespace ibpod::sm
