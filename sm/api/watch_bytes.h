// WatchBytes: counts the bytes of messages that wait for all watchers of a service.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace ibpod::sm::api {

// Thread-safe.
class WatchBytes {
 public:
  // In bytes, of one watch and of all. Beyond `of_all`, each watch with more than `little` ends.
  struct Limits {
    size_t of_one = 4 << 20;
    size_t of_all = 64 << 20;
    size_t little = 256 << 10;
  };
  explicit WatchBytes(const Limits& limits) : limits_(limits) {}

  // Counts its bytes as waiting until it is destroyed.
  class Reservation {
   public:
    Reservation(std::shared_ptr<WatchBytes> all, size_t bytes)
        : all_(std::move(all)), bytes_(bytes) {
      all_->waiting_ += bytes_;
    }
    Reservation(Reservation&& other) noexcept = default;
    Reservation& operator=(Reservation&&) = delete;
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
      if (all_) all_->waiting_ -= bytes_;
    }
    size_t bytes() const { return bytes_; }

   private:
    std::shared_ptr<WatchBytes> all_;
    size_t bytes_;
  };

  // True if a watch with `of_one` waiting bytes may continue.
  bool allows(size_t of_one) const {
    return of_one <= limits_.of_one && (of_one <= limits_.little || waiting_ <= limits_.of_all);
  }
  size_t waiting() const { return waiting_; }

 private:
  const Limits limits_;
  std::atomic<size_t> waiting_ = 0;
};

}  // namespace ibpod::sm::api
