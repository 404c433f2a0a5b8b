// CallLimiter: limits the calls in progress, in total and per caller.
#pragma once

#include "lib/base/result.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ibpod::sm::api {

// Thread-safe. It lives as long as any of its slots.
class CallLimiter : public std::enable_shared_from_this<CallLimiter> {
 public:
  // An eighth of all slots, and a quarter of each caller's, are reserved: a caller at its limit can
  // still end what it has begun, and other callers and administrators can still make calls.
  enum class Quota {
    ordinary,
    reserved,  // for administrators, and for calls that end something or renew it
  };
  // `what`: the name of the counted things in errors: "calls".
  CallLimiter(std::string what, size_t most, size_t most_of_one)
      : what_(std::move(what)), most_(most), most_of_one_(most_of_one) {}

  // Counts one call until it is destroyed.
  class Slot {
   public:
    Slot(std::shared_ptr<CallLimiter> limiter, std::string caller)
        : limiter_(std::move(limiter)), caller_(std::move(caller)) {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    Slot(Slot&&) = delete;
    Slot& operator=(Slot&&) = delete;
    ~Slot() { limiter_->free(caller_); }

   private:
    std::shared_ptr<CallLimiter> limiter_;
    std::string caller_;
  };

  // unavailable if no slot is free.
  Result<std::shared_ptr<Slot>> take(const std::string& caller, Quota quota = Quota::ordinary);

 private:
  Status check_room(const std::string& caller, Quota quota) const;
  void free(const std::string& caller);

  const std::string what_;
  const size_t most_, most_of_one_;
  std::mutex mutex_;
  size_t taken_ = 0;
  std::map<std::string, size_t> taken_by_;
};

}  // namespace ibpod::sm::api
