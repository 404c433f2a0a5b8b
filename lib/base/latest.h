// Latest: the newest value that one thread publishes and others read.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace ibpod {

template <typename T>
class Latest {
 public:
  void set(T value) {
    auto next = std::make_shared<const T>(std::move(value));
    const std::scoped_lock lock(mutex_);
    value_ = std::move(next);
  }
  // Never null. The object does not change while it is held.
  std::shared_ptr<const T> get() const {
    const std::scoped_lock lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_ = std::make_shared<const T>();
};

}  // namespace ibpod
