// PublishedStatus: what the engine's thread shows to other threads. Thread-safe.
#pragma once

#include "sm/engine/subnet_manager.h"
#include "sm/opensm/partitions_file.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace ibpod::sm::opensm {

class PublishedStatus {
 public:
  // The file in place.
  struct File {
    std::shared_ptr<const ManualSection> section;
    size_t bytes = 0;
  };

  // `on_change` is called after each change of the status, by the thread that publishes it.
  explicit PublishedStatus(engine::SubnetManager::OnChange on_change)
      : on_change_(std::move(on_change)) {}

  void publish(engine::EngineStatus status, File file) {
    {
      const std::lock_guard lock(mutex_);
      file_ = std::move(file);
      if (status == status_) return;
      status_ = std::move(status);
    }
    on_change_();
  }
  engine::EngineStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  File file() const {
    const std::lock_guard lock(mutex_);
    return file_;
  }

 private:
  engine::SubnetManager::OnChange on_change_;
  mutable std::mutex mutex_;
  engine::EngineStatus status_;
  File file_{std::make_shared<ManualSection>(), 0};
};

}  // namespace ibpod::sm::opensm
