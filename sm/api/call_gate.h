// CallGate: the checks of a call before the controller sees it: authentication, the limits of calls
// in progress, authorization, and the queue of the controller's thread.
#pragma once

#include "sm/api/authz.h"
#include "sm/api/call_limiter.h"
#include "sm/api/call_subject.h"
#include "sm/api/callers.h"
#include "sm/api/task_queue.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ibpod::sm::api {

// The reserved part of the queue that a call may use.
CallQueue::Share share_of(const fabricapi::Caller& caller, Call call);

struct AdmittedCall {
  fabricapi::Caller caller;
  std::shared_ptr<CallLimiter::Slot> slot;
};

// Thread-safe.
class CallGate {
 public:
  // Called for a refused change or list call, with its action(), its subject and the error.
  using OnRefused = std::function<void(const fabricapi::Caller&, std::string_view action,
                                       const std::string& subject, const Error&)>;
  struct Deps {
    Identify identify;
    TaskQueue& tasks;  // outlives the gate
    OnRefused on_refused;
  };
  CallGate(Deps deps, std::string fabric) : deps_(std::move(deps)), fabric_(std::move(fabric)) {}

  // The first check of a call, before anything of its request is read. denied for an unknown
  // caller; unavailable if it is not known yet (TokenAuthenticator).
  Result<fabricapi::Caller> authenticate(const rpc::Peer& peer) const;
  // not_found for another fabric; an empty one means "default" (api/ibpod/v1/fabric.proto).
  // unavailable if the limit is reached; administrators and calls with is_reserved() may use the
  // reserve.
  Result<AdmittedCall> admit(const fabricapi::Caller& caller, const std::string& fabric, Call call,
                             CallLimiter& limiter) const;
  // Queues `task`, which makes the call. denied as authorize(); unavailable if the queue is full.
  Status submit(const fabricapi::Caller& caller, Call call, const CallSubject& subject,
                TaskQueue::Task task) const;

 private:
  const Deps deps_;
  const std::string fabric_;
};

}  // namespace ibpod::sm::api
