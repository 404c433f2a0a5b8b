#include "sm/controller/commit_queue.h"

#include "sm/controller/own_caller.h"

namespace ibpod::sm::controller {

void CommitQueue::audit(const fabricapi::Caller& caller, std::string action, std::string subject,
                        const Status& status, Effect effect) {
  if (!status) return telemetry_.audit(caller, action, subject, status);
  when_committed([this, caller, action = std::move(action), subject = std::move(subject),
                  effect](const Status& committed) {
    telemetry_.audit(caller, action, subject, committed, effect);
  });
}

Status CommitQueue::commit(state::Now now) {
  const state::CommitResult committed = journal_.commit(now);
  const Status& status = committed.status;
  if (committed.wrote || !status)
    telemetry_.report_condition("store", status ? "" : status.error().text());
  for (const auto& then : std::exchange(waiting_, {})) then(status);
  for (const fabric::Attachment& one : committed.expired)
    telemetry_.audit(own_caller("lease"), "unbind", text(one), status);
  return status;
}

}  // namespace ibpod::sm::controller
