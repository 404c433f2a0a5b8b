// CallQueue: calls that wait for the controller's thread, in a queue for each caller. The queues
// take turns, so that a caller does not wait for all calls of another one.
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace ibpod::sm::api {

class CallQueue {
 public:
  using Call = std::function<void()>;
  // The reserved part of the limits that a call may use.
  enum class Share {
    ordinary,       // none of it
    reserved,       // all of it: for calls that end something or renew it
    administrator,  // all of it, and without the limit of one caller
  };
  struct Limits {
    size_t all = 4096;
    size_t of_one = 256;
    size_t reserve_of_all = 1024;  // of `all`
    size_t reserve_of_one = 64;    // of `of_one`
  };
  explicit CallQueue(Limits limits) : limits_(limits) {}

  // unavailable, naming the caller and the limit, if the queue is full.
  Status push(const std::string& caller, Share share, Call call);
  // Returns at most `most` calls: the first call of each caller, then the second ones, beginning
  // with the caller that has waited longest.
  std::vector<Call> take(size_t most);
  size_t size() const { return size_; }

 private:
  Status check_room(const std::string& caller, Share share) const;

  const Limits limits_;
  std::map<std::string, std::deque<Call>> queues_;  // without empty ones
  std::list<std::string> order_;                    // the callers in queues_
  size_t size_ = 0;
};

}  // namespace ibpod::sm::api
