// CallLimiter: how many calls are in progress, in all and of one caller.
#pragma once

#include "lib/base/result.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ibpod::sm::api {

// From any thread. It lives as long as any place of it is taken.
class CallLimiter : public std::enable_shared_from_this<CallLimiter> {
 public:
  // An eighth of all places, and a quarter of each caller's, are kept free of ordinary calls: who
  // fills them can still end what it has begun, and others and administrators get in.
  enum class Quota {
    ordinary,
    reserved,  // an administrator's; what ends something, or says that something is still there
  };
  // `what`: the name of the counted thing, for the refusal: "calls".
  CallLimiter(std::string what, size_t most, size_t most_of_one)
      : what_(std::move(what)), most_(most), most_of_one_(most_of_one) {}

  // Free again when it goes.
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

  // unavailable where there is none.
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
