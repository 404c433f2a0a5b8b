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

namespace ibpod::sm {

class Waiting {
 public:
  using Time = Deadline::Clock::time_point;
  using Done = std::function<void(Result<fabric::Binding>)>;
  enum class For { verified, released };

  Waiting() = default;
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  Waiting(Waiting&&) = delete;
  Waiting& operator=(Waiting&&) = delete;
  // Those that still wait are told that the service ends: unavailable.
  ~Waiting();

  void add(const fabric::Attachment& attachment, For what, Time until, Done done);
  // The binding has changed: whoever waited for this is told. Who waits for it to be verified while
  // it is released waits in vain, and is told, too.
  void tell(const fabric::Binding& binding);
  // Tells those whose time is over how it stands now. `binding` is asked for each; nothing: it is
  // not there any more.
  void expire(
      Time now,
      const std::function<std::optional<fabric::Binding>(const fabric::Attachment&)>& binding);
  // When expire() has something to do next.
  std::optional<Time> due() const;
  // Tells all of them the same.
  void fail(const Error& error);
  size_t size() const { return waiters_.size(); }

 private:
  struct Waiter {
    For what;
    Time until;
    Done done;
  };
  using Waiters = std::multimap<fabric::Attachment, Waiter>;
  Waiter take(Waiters::iterator waiter);

  Waiters waiters_;
  std::multiset<Time> times_;
};

}  // namespace ibpod::sm
