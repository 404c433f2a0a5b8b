// BindingCalls: the calls Bind and Unbind, from the request to the answer. A Bind may have to wait
// until another attachment has left its port, and then until the port is verified.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/bindings/registries.h"
#include "sm/controller/change_limit.h"
#include "sm/controller/commit_queue.h"
#include "sm/controller/fabric_reconciler.h"
#include "sm/controller/namespace_history.h"
#include "sm/controller/pending_requests.h"
#include "sm/controller/postponed_binds.h"
#include "sm/telemetry/telemetry.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace ibpod::sm::controller {

class BindingCalls {
 public:
  using Time = Deadline::Clock::time_point;
  using Caller = fabricapi::Caller;
  using Done = fabricapi::Done<fabric::Binding>;

  // All of them outlive it.
  struct Deps {
    bindings::Registries& registry;
    const FabricReconciler& reconciler;
    CommitQueue& commits;
    telemetry::Telemetry& telemetry;
    std::function<Time()> clock;  // as in FabricReconciler
  };
  struct Settings {
    size_t max_pending = 20'000;
    ChangeLimit::Settings changes = {};  // of the Binds of one node
  };
  BindingCalls(Deps deps, Settings settings);

  // `until`: when the call is answered at the latest.
  void bind(const Caller& caller, const fabricapi::BindRequest& request,
            const fabricapi::CallContext& context, Time until, Done done, state::Now now);
  void unbind(const Caller& caller, const fabric::Attachment& attachment, Time until, Done done,
              state::Now now);

  // A committed change of a binding.
  void notify(const fabricapi::BindingChange& change, state::Now now);
  // Retries Binds whose port has been released. Returns true if there were any.
  bool retry_postponed(state::Now now);
  // Refuses the Binds that still wait for their port at their deadline.
  void expire_postponed(Time now);
  // Answers the other calls whose deadline has passed with the binding as it is.
  void expire(Time now);
  void forget_node(const std::string& node) { namespaces_.forget(node); }
  // The earliest deadline; nothing: no call waits.
  std::optional<Time> due() const;
  // Calls that wait for a binding to be verified or released.
  size_t pending() const { return pending_.size(); }

 private:
  bool blocked_by_departing(const fabricapi::BindRequest& request) const;
  Status check_rate(const PostponedBind& bind, Time now) const;
  Result<fabric::Binding> bind_now(const PostponedBind& bind, state::Now now);
  void try_bind(PostponedBind bind, state::Now now);
  void refuse(const PostponedBind& bind, const Error& why);
  void wait(const fabric::Binding& binding, PendingRequests::WaitFor what, Time until, Done done,
            state::Now now);
  void audit(const PostponedBind& bind, const Status& status, CommitQueue::Effect effect);
  void audit_namespace(const PostponedBind& bind);
  void remember_namespaces();
  std::optional<telemetry::Telemetry::BindDurations> durations_of(
      const fabric::Attachment& attachment, state::Now now) const;

  Deps deps_;
  size_t max_pending_;
  NamespaceHistory namespaces_;
  ChangeLimit change_limit_;
  std::map<fabric::Attachment, Time> bind_requested_;  // time of the call of each pending Bind
  PendingRequests pending_;
  PostponedBinds postponed_;
};

}  // namespace ibpod::sm::controller
