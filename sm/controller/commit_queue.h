// CommitQueue: commits the changes of the registries, and holds what must not be said before they
// are on disk: the answers of callers, and the lines of the audit log.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/state/journal.h"
#include "sm/telemetry/telemetry.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::controller {

// The outcome of a call, without its value.
template <typename Value>
Status status_of(const Result<Value>& result) {
  return result ? ok() : Status(result.error());
}

class CommitQueue {
 public:
  template <typename Value>
  using Done = fabricapi::Done<Value>;
  using Effect = telemetry::Telemetry::Effect;

  // Both outlive it.
  CommitQueue(state::Journal& journal, telemetry::Telemetry& telemetry)
      : journal_(journal), telemetry_(telemetry) {}

  // Runs `then` once, after the next commit, with its outcome.
  void when_committed(std::function<void(const Status&)> then) {
    waiting_.push_back(std::move(then));
  }
  // Answers an error at once, and a success after the commit.
  template <typename Value>
  void answer(Result<Value> result, Done<Value> done);
  // Runs `lookup` after the commit, and answers with its result.
  template <typename Value, typename Lookup>
  void answer_committed(Done<Value> done, Lookup lookup);

  // Writes an error to the audit log at once, and a success after the commit: as an error if that
  // fails.
  void audit(const fabricapi::Caller& caller, std::string action, std::string subject,
             const Status& status, Effect effect = Effect::change);
  // The effect of a call that began when Journal::changes() was `changes`.
  Effect effect_since(uint64_t changes) const {
    return journal_.changes() == changes ? Effect::none : Effect::change;
  }

  // Commits, then runs what waits for it. Returns the outcome.
  Status commit(state::Now now);

 private:
  state::Journal& journal_;
  telemetry::Telemetry& telemetry_;
  std::vector<std::function<void(const Status&)>> waiting_;
};

template <typename Value>
void CommitQueue::answer(Result<Value> result, Done<Value> done) {
  if (!result) return done(std::move(result));
  when_committed([result = std::move(result), done = std::move(done)](const Status& committed) {
    done(committed ? result : Result<Value>(committed.error()));
  });
}

template <typename Value, typename Lookup>
void CommitQueue::answer_committed(Done<Value> done, Lookup lookup) {
  when_committed([done = std::move(done), lookup = std::move(lookup)](const Status& committed) {
    if (committed)
      done(lookup());
    else
      done(committed.error());
  });
}

}  // namespace ibpod::sm::controller
