#include "sm/controller/binding_calls.h"

#include "sm/bindings/admission.h"
#include "sm/controller/own_caller.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ibpod::sm::controller {
namespace {

using Effect = CommitQueue::Effect;

Error cancelled() { return Error(Code::unavailable, "the caller has cancelled the call"); }

}  // namespace

BindingCalls::BindingCalls(Deps deps, Settings settings)
    : deps_(std::move(deps)), max_pending_(settings.max_pending), change_limit_(settings.changes) {
  remember_namespaces();
}

void BindingCalls::remember_namespaces() {
  fabricapi::PageRequest page;
  do {
    const auto listed = deps_.registry.bindings.list({}, page);
    if (!listed) return;
    for (const fabric::Binding& one : listed->items)
      namespaces_.add(one.attachment.node, one.pod.name_space);
    page.token = listed->next;
  } while (!page.token.empty());
}

void BindingCalls::bind(const Caller& caller, const fabricapi::BindRequest& request,
                        const fabricapi::CallContext& context, Time until, Done done,
                        state::Now now) {
  if (pending_.size() + postponed_.size() >= max_pending_) {
    const Error refusal(Code::unavailable, "pending request limit reached (" +
                                               std::to_string(max_pending_) + "); try again later");
    deps_.commits.audit(caller, "bind", text(request.attachment), refusal);
    return done(refusal);
  }
  try_bind({caller, request, context, until, std::move(done)}, now);
}

// True if a binding that may end soon is in the way: another attachment's, or an earlier one of
// this attachment.
bool BindingCalls::blocked_by_departing(const fabricapi::BindRequest& request) const {
  const auto there = deps_.registry.bindings.bindings_on(request.guid);
  return request.kind == fabric::Kind::vf &&
         std::any_of(there.begin(), there.end(), [&](const fabric::Binding* one) {
           return one->attachment != request.attachment ||
                  one->state == fabric::BindingState::releasing;
         });
}

// The limit is for Binds that change something: a node can always release.
Status BindingCalls::check_rate(const PostponedBind& bind, Time now) const {
  const Caller& caller = bind.caller;
  if (caller.role != fabricapi::Role::node || change_limit_.may_change(caller.node, now))
    return ok();
  const auto whole = [](double number) { return std::to_string(std::llround(number)); };
  return Error(Code::busy, "node " + caller.node + " changes bindings too often: limit reached (" +
                               whole(change_limit_.settings().burst) + " at once, " +
                               whole(change_limit_.settings().per_second) +
                               " per second); try again later (" + text(bind.request.attachment) +
                               ")");
}

Result<fabric::Binding> BindingCalls::bind_now(const PostponedBind& bind, state::Now now) {
  return deps_.registry.bindings.bind(bind.caller, bind.request,
                                      deps_.reconciler.facts_of(bind.request), now,
                                      check_rate(bind, now.steady));
}

void BindingCalls::try_bind(PostponedBind bind, state::Now now) {
  if (bind.context.is_cancelled()) return refuse(bind, cancelled());
  const uint64_t before = deps_.registry.journal.changes();
  Result<fabric::Binding> bound = bind_now(bind, now);
  if (!bound && bound.error().code() == Code::busy && blocked_by_departing(bind.request) &&
      now.steady < bind.until) {
    bind.why = bound.error();
    return postponed_.add(std::move(bind));
  }
  const Effect effect = deps_.commits.effect_since(before);
  if (bound && effect == Effect::change && bind.caller.role == fabricapi::Role::node)
    change_limit_.take(bind.caller.node, now.steady);
  if (bound) deps_.registry.nodes.note_contact(bind.request.attachment.node, now);
  audit(bind, status_of(bound), effect);
  if (!bound) return bind.done(std::move(bound));
  if (deps_.reconciler.engine_fault().reason != fabric::Reason::none)
    deps_.registry.bindings.set_condition(bound->guid, deps_.reconciler.engine_fault(), now);
  wait(*bound, PendingRequests::WaitFor::verified, bind.until, std::move(bind.done), now);
}

void BindingCalls::refuse(const PostponedBind& bind, const Error& why) {
  deps_.commits.audit(bind.caller, "bind", text(bind.request.attachment), why);
  bind.done(why);
}

void BindingCalls::unbind(const Caller& caller, const fabric::Attachment& attachment, Time until,
                          Done done, state::Now now) {
  const uint64_t before = deps_.registry.journal.changes();
  const Result<fabric::Binding> unbound = deps_.registry.bindings.unbind(attachment, now);
  deps_.commits.audit(caller, "unbind", text(attachment), status_of(unbound),
                      deps_.commits.effect_since(before));
  if (!unbound) return done(unbound);
  // An administrator's call does not show that the node is alive.
  if (caller.role == fabricapi::Role::node) deps_.registry.nodes.note_contact(caller.node, now);
  for (const PostponedBind& bind : postponed_.take(attachment))
    refuse(bind, Error(Code::unavailable, "unbound before the port was free"));
  wait(*unbound, PendingRequests::WaitFor::released, until, std::move(done), now);
}

void BindingCalls::wait(const fabric::Binding& binding, PendingRequests::WaitFor what, Time until,
                        Done done, state::Now now) {
  deps_.commits.when_committed([this, binding, what, until, asked = now.steady,
                                done = std::move(done)](const Status& committed) {
    if (!committed) return done(committed.error());
    if (what == PendingRequests::WaitFor::verified &&
        binding.state != fabric::BindingState::verified)
      bind_requested_.try_emplace(binding.attachment, asked);
    pending_.add(binding.attachment, what, until, done);
    const auto present = deps_.registry.bindings.binding(binding.attachment);
    pending_.notify(present ? *present : binding);
  });
}

std::optional<telemetry::Telemetry::BindDurations> BindingCalls::durations_of(
    const fabric::Attachment& attachment, state::Now now) const {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto asked = bind_requested_.find(attachment);
  if (asked == bind_requested_.end()) return std::nullopt;
  const Time present = deps_.clock();
  return telemetry::Telemetry::BindDurations{duration_cast<microseconds>(present - asked->second),
                                             duration_cast<microseconds>(present - now.steady)};
}

void BindingCalls::notify(const fabricapi::BindingChange& change, state::Now now) {
  const fabric::Binding& binding = change.binding;
  deps_.telemetry.changed(binding, durations_of(binding.attachment, now));
  const auto asked = bind_requested_.find(binding.attachment);
  const bool verified = binding.state == fabric::BindingState::verified;
  if (asked != bind_requested_.end() && verified)
    deps_.telemetry.verified(binding.proof, now.steady - asked->second);
  if (asked != bind_requested_.end() && (verified || change.gone)) bind_requested_.erase(asked);
  pending_.notify(binding);
  if (change.gone) postponed_.port_released(binding.guid);
}

bool BindingCalls::retry_postponed(state::Now now) {
  std::vector<PostponedBind> ready = postponed_.take_ready();
  for (PostponedBind& bind : ready) try_bind(std::move(bind), now);
  return !ready.empty();
}

void BindingCalls::expire_postponed(Time now) {
  for (const PostponedBind& bind : postponed_.take_expired(now))
    refuse(bind, bind.context.is_cancelled() ? cancelled() : bind.why);
}

void BindingCalls::expire(Time now) {
  pending_.expire(now, [this](const fabric::Attachment& attachment) {
    const auto binding = deps_.registry.bindings.binding(attachment);
    return binding ? std::optional(*binding) : std::nullopt;
  });
}

std::optional<BindingCalls::Time> BindingCalls::due() const {
  const std::optional<Time> pending = pending_.due(), postponed = postponed_.due();
  if (!pending || !postponed) return pending ? pending : postponed;
  return std::min(*pending, *postponed);
}

// Also reports possible signs of a compromised node: its first pod of a namespace, or a request for
// a partition that is not for this node.
void BindingCalls::audit(const PostponedBind& bind, const Status& status, Effect effect) {
  const fabricapi::BindRequest& request = bind.request;
  const std::string subject = text(request.attachment);
  deps_.commits.audit(bind.caller, "bind", subject, status, effect);
  if (status) return audit_namespace(bind);
  if (status.error().code() != Code::denied) return;
  const std::string partition = bindings::denied_to_node(deps_.registry.journal.records(), request);
  if (!partition.empty()) deps_.telemetry.wrong_node(bind.caller, subject, partition);
}

void BindingCalls::audit_namespace(const PostponedBind& bind) {
  const fabricapi::BindRequest& request = bind.request;
  deps_.commits.when_committed([this, caller = bind.caller, attachment = request.attachment,
                                name_space = request.pod.name_space](const Status& committed) {
    if (!committed) return;
    const auto seen = namespaces_.add(attachment.node, name_space);
    if (!seen.full && seen.others == 0) return;
    if (seen.full)
      return deps_.telemetry.uncertain_first_binding(caller, attachment.node,
                                                     namespaces_.take_full(attachment.node));
    deps_.telemetry.first_binding(caller, text(attachment), name_space, seen.others);
  });
}

}  // namespace ibpod::sm::controller
