// Waiting: who waits for a binding to be verified, or to be released, and until when. Nobody is
// forgotten: each `done` runs once.
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
  // Those that still wait are told that the service ends: unavailable.
  ~PendingRequests();

  void add(const fabric::Attachment& attachment, WaitFor what, Time until, Done done);
  // The binding has changed: whoever waited for this is told. Who waits for it to be verified while
  // it is released waits in vain, and is told, too.
  void notify(const fabric::Binding& binding);
  // Tells those whose time is over how it stands now. `binding` is asked for each; nothing: it is
  // not there any more.
  void expire(
      Time now,
      const std::function<std::optional<fabric::Binding>(const fabric::Attachment&)>& binding);
  // When expire() has something to do next.
  std::optional<Time> due() const;
  // Tells all of them the same.
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
