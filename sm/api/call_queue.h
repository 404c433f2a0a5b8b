// CallQueue: calls that wait for the one thread, each in its caller's own queue. The queues are
// served in turn, so that no caller's calls wait for all of another's.
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
  // The reserved places that a call may use.
  enum class Share {
    ordinary,       // nothing: neither the caller's reserve, nor that of all
    reserved,       // both: calls that end something or renew it
    administrator,  // both, and is not bounded by what one caller may have
  };
  struct Limits {
    size_t all = 4096;
    size_t of_one = 256;
    size_t reserve_of_all = 1024;  // of `all`
    size_t reserve_of_one = 64;    // of `of_one`
  };
  explicit CallQueue(Limits limits) : limits_(limits) {}

  // unavailable, naming the caller and the limit, where there is no place.
  Status push(const std::string& caller, Share share, Call call);
  // At most so many: the first of each caller, then the second, beginning with the caller who has
  // waited for its turn longest.
  std::vector<Call> take(size_t most);
  size_t size() const { return size_; }

 private:
  Status check_room(const std::string& caller, Share share) const;

  const Limits limits_;
  std::map<std::string, std::deque<Call>> queues_;  // none is empty
  std::list<std::string> order_;                    // the callers of queues_
  size_t size_ = 0;
};

}  // namespace ibpod::sm::api
