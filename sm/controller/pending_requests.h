// PendingRequests: calls that wait for a binding to be verified or released, with their deadlines.
// Each `done` runs exactly once.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/fabric/binding.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ibpod::sm::controller {

class PendingRequests {
 public:
  using Time = Deadline::Clock::time_point;
  using Done = std::function<void(Result<fabric::Binding>)>;
  enum class WaitFor { verified, released };

  PendingRequests() = default;
  PendingRequests(const PendingRequests&) = delete;
  PendingRequests& operator=(const PendingRequests&) = delete;
  PendingRequests(PendingRequests&&) = delete;
  PendingRequests& operator=(PendingRequests&&) = delete;
  // Ends all requests as unavailable.
  ~PendingRequests();

  void add(const fabric::Attachment& attachment, WaitFor what, Time until, Done done);
  // Answers the requests that waited for the binding's present state. A request for `verified` is
  // also answered when the binding is being released.
  void notify(const fabric::Binding& binding);
  // Answers the requests whose deadline has passed with the present binding, which `binding`
  // returns; nothing if it no longer exists.
  void expire(
      Time now,
      const std::function<std::optional<fabric::Binding>(const fabric::Attachment&)>& binding);
  // The earliest deadline; nothing: no request waits.
  std::optional<Time> due() const;
  // Ends all requests with this error.
  void fail(const Error& error);
  size_t size() const { return requests_.size(); }

 private:
  struct Request {
    WaitFor wait_for;
    Time until;
    Done done;
  };
  using Requests = std::multimap<fabric::Attachment, Request>;
  Request take(Requests::iterator waiter);

  Requests requests_;
  std::multiset<Time> times_;
};

}  // namespace ibpod::sm::controller
