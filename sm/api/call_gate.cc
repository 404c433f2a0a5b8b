#include "sm/api/call_gate.h"

#include "lib/fabricapi/fields.h"

#include <utility>

namespace ibpod::sm::api {

using fabricapi::Caller;
using fabricapi::Role;

CallQueue::Share share_of(const Caller& caller, Call call) {
  if (caller.role == Role::administrator) return CallQueue::Share::administrator;
  return is_reserved(call) ? CallQueue::Share::reserved : CallQueue::Share::ordinary;
}

Result<Caller> CallGate::authenticate(const rpc::Peer& peer) const { return deps_.identify(peer); }

Result<AdmittedCall> CallGate::admit(const Caller& caller, const std::string& fabric, Call call,
                                     CallLimiter& limiter) const {
  AdmittedCall admitted{caller, nullptr};
  const std::string meant = fabric.empty() ? "default" : fabric;
  if (meant != fabric_) {
    const std::string expected = "\"" + fabric_ + "\", the fabric of this service";
    return Error(Code::not_found, fabricapi::wrong("fabric", meant, expected).text());
  }
  const bool ordinary = share_of(admitted.caller, call) == CallQueue::Share::ordinary;
  admitted.slot =
      TRY(limiter.take(account_of(admitted.caller),
                       ordinary ? CallLimiter::Quota::ordinary : CallLimiter::Quota::reserved));
  return admitted;
}

Status CallGate::submit(const Caller& caller, Call call, const CallSubject& subject,
                        TaskQueue::Task task) const {
  Status submitted = authorize(caller, call, subject.node);
  if (submitted)
    submitted = deps_.tasks.try_post(account_of(caller), share_of(caller, call), std::move(task));
  if (!submitted && !action(call).empty())
    deps_.on_refused(caller, action(call), subject.text, submitted.error());
  return submitted;
}

}  // namespace ibpod::sm::api
