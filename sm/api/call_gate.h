// CallGate: what a call has to pass before the controller sees it: authentication, the limits of
// calls in progress, authorization, and the queue of the controller's thread.
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

// The reserved places of the queue that a call may use.
CallQueue::Share share_of(const fabricapi::Caller& caller, Call call);

struct AdmittedCall {
  fabricapi::Caller caller;
  std::shared_ptr<CallLimiter::Slot> slot;
};

// From any thread.
class CallGate {
 public:
  // Of a call that changes or lists something: its action(), its subject, and why it was refused.
  using OnRefused = std::function<void(const fabricapi::Caller&, std::string_view action,
                                       const std::string& subject, const Error&)>;
  struct Deps {
    Identify identify;
    TaskQueue& tasks;  // outlives the gate
    OnRefused on_refused;
  };
  CallGate(Deps deps, std::string fabric) : deps_(std::move(deps)), fabric_(std::move(fabric)) {}

  // An unknown caller is denied before anything else is checked. not_found for another fabric; an
  // empty one means "default" (api/ibpod/v1/fabric.proto). unavailable without a place; an
  // administrator and a call that is_reserved() have the reserved ones.
  Result<AdmittedCall> admit(const rpc::Peer& peer, const std::string& fabric, Call call,
                             CallLimiter& limiter) const;
  // Queues `task`, the call itself. denied as by authorize(); unavailable without a place in the
  // queue.
  Status submit(const fabricapi::Caller& caller, Call call, const CallSubject& subject,
                TaskQueue::Task task) const;

 private:
  const Deps deps_;
  const std::string fabric_;
};

}  // namespace ibpod::sm::api
