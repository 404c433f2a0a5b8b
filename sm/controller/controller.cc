#include "sm/controller/controller.h"

#include "sm/controller/own_caller.h"

#include <algorithm>
#include <cmath>

namespace ibpod::sm::controller {
namespace {

using fabricapi::Caller;

template <typename Value>
Status status_of(const Result<Value>& result) {
  return result ? ok() : Status(result.error());
}

}  // namespace

const Error Controller::kCancelled(Code::unavailable, "the caller has cancelled the call");

Controller::Controller(Deps deps, ControllerSettings settings, state::Now now)
    : deps_(deps),
      settings_(std::move(settings)),
      now_(now),
      requested_(deps.registry),
      verifier_({.epoch = settings_.epoch,
                 .own_port = settings_.own_port,
                 .node_report_lifetime = settings_.node_report_lifetime},
                requested_),
      published_(deps.subnet_manager),
      declared_({deps.registry, deps.subnet_manager, deps.telemetry}, settings_.has_declared_file,
                now.steady),
      diagnostics_({deps.registry, deps.subnet_manager, verifier_, published_, declared_},
                   settings_.sm, now),
      change_limit_(settings_.changes) {
  reserve_manual_pkeys();
  remember_namespaces();
}

void Controller::reserve_manual_pkeys() {
  deps_.registry.partitions.reserve_pkeys(published_.manual_pkeys());
}

void Controller::when_committed(std::function<void(const Status&)> answer) {
  on_commit_.push_back(std::move(answer));
}

template <typename Value>
void Controller::answer(Result<Value> result, Done<Value> done) {
  if (!result) return done(std::move(result));
  when_committed([result = std::move(result), done = std::move(done)](const Status& committed) {
    done(committed ? result : Result<Value>(committed.error()));
  });
}

Controller::Time Controller::until(Deadline deadline) const {
  return std::min(deadline.time(), now_.steady + settings_.call_timeout);
}

// --- partitions

// Checks that the engine could enforce the resulting partitions.
Status Controller::check_engine(const fabricapi::PlanRequest& request) const {
  TRY(diagnostics_.partitions_after(request));
  return ok();
}

void Controller::create_partition(const Caller& caller, const fabric::Partition& partition,
                                  Done<fabric::PartitionStatus> done) {
  const Status possible = check_engine({.partition = partition, .without = {}});
  auto created = possible ? deps_.registry.partitions.create(partition) : possible.error();
  note_seen_ports();
  audit(caller, "create partition", partition.name, status_of(created));
  answer(std::move(created), std::move(done));
}

void Controller::update_partition(const Caller& caller, const fabric::Partition& partition,
                                  Done<fabric::PartitionStatus> done) {
  const Status possible = check_engine({.partition = partition, .without = {}, .update = true});
  auto updated = possible ? deps_.registry.partitions.update(partition, now_) : possible.error();
  note_seen_ports();
  audit(caller, "update partition", partition.name, status_of(updated));
  answer(std::move(updated), std::move(done));
}

void Controller::delete_partition(const Caller& caller, const std::string& name,
                                  Done<fabric::PartitionStatus> done) {
  auto removed = deps_.registry.partitions.remove(name);
  audit(caller, "delete partition", name, status_of(removed));
  answer(std::move(removed), std::move(done));
}

void Controller::forget_ports(const Caller& caller, const std::string& partition,
                              Done<fabric::PartitionStatus> done) {
  auto removed = deps_.registry.partitions.forget_ports(
      partition,
      [this](ib::Guid port, ib::PKey pkey) { return verifier_.is_known_to_hold(port, pkey); });
  audit(caller, "force delete partition", partition, status_of(removed));
  answer(std::move(removed), std::move(done));
}

void Controller::note_seen_ports() {
  deps_.registry.partitions.note_seen(
      [this](ib::Guid port) { return verifier_.may_be_present(port); });
}

// --- bindings

bindings::TableCapacity Controller::table_capacity(ib::Guid port) const {
  bindings::TableCapacity capacity;
  const fabric::Port* const seen = verifier_.observations().topology().find(port);
  if (seen == nullptr) return capacity;
  capacity.of_port = seen->partition_cap;
  if (seen->switch_port && seen->switch_port->enforcement)
    capacity.of_switch_port = seen->switch_port->enforcement->partition_cap;
  return capacity;
}

bindings::PortFacts Controller::facts_of(const fabricapi::BindRequest& request) const {
  const verify::PortObservations& observations = verifier_.observations();
  const verify::DesiredTable unmanaged = verifier_.unmanaged_keys(request.guid);
  bindings::PortFacts facts;
  facts.capacity = table_capacity(request.guid);
  facts.capacity.taken = unmanaged.keys.size();
  facts.index0 = {.is_sm_port = request.guid == settings_.own_port, .key = unmanaged.index0};
  facts.manual_bytes = published_.manual_bytes();
  if (!verifier_.last_scan()) return facts;
  if (verifier_.is_absent(request.guid)) facts.absent_at = verifier_.last_scan();
  facts.never_seen = !observations.ever_seen(request.guid);
  facts.never_seen_of_node = [this, node = request.attachment.node] {
    const std::vector<ib::Guid> ports = deps_.registry.bindings.ports_of(node);
    return static_cast<size_t>(std::count_if(ports.begin(), ports.end(), [this](ib::Guid port) {
      return !verifier_.observations().ever_seen(port);
    }));
  };
  return facts;
}

void Controller::bind(const Caller& caller, const fabricapi::BindRequest& request,
                      const fabricapi::CallContext& context, Done<fabric::Binding> done) {
  if (pending_.size() + postponed_.size() >= settings_.max_pending) {
    const Error refusal(Code::unavailable, "pending request limit reached (" +
                                               std::to_string(settings_.max_pending) +
                                               "); try again later");
    audit(caller, "bind", text(request.attachment), refusal);
    return done(refusal);
  }
  try_bind({caller, request, context, until(context.deadline()), std::move(done)});
}

// True if a binding that may end soon is in the way: another attachment's, or an earlier one of
// this attachment.
bool Controller::blocked_by_departing(const fabricapi::BindRequest& request) const {
  const auto there = deps_.registry.bindings.bindings_on(request.guid);
  return request.kind == fabric::Kind::vf &&
         std::any_of(there.begin(), there.end(), [&](const fabric::Binding* one) {
           return one->attachment != request.attachment ||
                  one->state == fabric::BindingState::releasing;
         });
}

// The limit is for Binds that change something: a node can always release.
Status Controller::check_rate(const Caller& caller, const fabricapi::BindRequest& request) const {
  if (caller.role != fabricapi::Role::node || change_limit_.may_change(caller.node, now_.steady))
    return ok();
  const auto whole = [](double number) { return std::to_string(std::llround(number)); };
  return Error(Code::busy, "node " + caller.node + " changes bindings too often: limit reached (" +
                               whole(change_limit_.settings().burst) + " at once, " +
                               whole(change_limit_.settings().per_second) +
                               " per second); try again later (" + text(request.attachment) + ")");
}

Result<fabric::Binding> Controller::bind_now(const Caller& caller,
                                             const fabricapi::BindRequest& request) {
  TRY(check_rate(caller, request));
  return deps_.registry.bindings.bind(caller, request, facts_of(request), now_);
}

void Controller::try_bind(PostponedBind bind) {
  if (bind.context.is_cancelled()) return refuse(bind, kCancelled);
  const uint64_t before = deps_.registry.journal.changes();
  Result<fabric::Binding> bound = bind_now(bind.caller, bind.request);
  if (!bound && bound.error().code() == Code::busy && blocked_by_departing(bind.request) &&
      now_.steady < bind.until) {
    bind.why = bound.error();
    return postponed_.add(std::move(bind));
  }
  const telemetry::Telemetry::Effect effect = effect_since(before);
  if (bound && effect == telemetry::Telemetry::Effect::change &&
      bind.caller.role == fabricapi::Role::node)
    change_limit_.take(bind.caller.node, now_.steady);
  if (bound) deps_.registry.nodes.note_contact(bind.request.attachment.node, now_);
  audit_bind(bind, status_of(bound), effect);
  if (!bound) return bind.done(std::move(bound));
  if (engine_fault_.reason != fabric::Reason::none)
    deps_.registry.bindings.set_condition(bound->guid, engine_fault_, now_);
  wait(*bound, PendingRequests::WaitFor::verified, bind.until, std::move(bind.done));
}

void Controller::refuse(const PostponedBind& bind, const Error& why) {
  audit(bind.caller, "bind", text(bind.request.attachment), why);
  bind.done(why);
}

void Controller::unbind(const Caller& caller, const fabric::Attachment& attachment,
                        Deadline deadline, Done<fabric::Binding> done) {
  const uint64_t before = deps_.registry.journal.changes();
  const Result<fabric::Binding> unbound = deps_.registry.bindings.unbind(attachment, now_);
  audit(caller, "unbind", text(attachment), status_of(unbound), effect_since(before));
  if (!unbound) return done(unbound);
  // An administrator's call does not show that the node is alive.
  if (caller.role == fabricapi::Role::node) deps_.registry.nodes.note_contact(caller.node, now_);
  for (const PostponedBind& bind : postponed_.take(attachment))
    refuse(bind, Error(Code::unavailable, "unbound before the port was free"));
  wait(*unbound, PendingRequests::WaitFor::released, until(deadline), std::move(done));
}

void Controller::wait(const fabric::Binding& binding, PendingRequests::WaitFor what, Time until,
                      Done<fabric::Binding> done) {
  when_committed([this, binding, what, until, asked = now_.steady,
                  done = std::move(done)](const Status& committed) {
    if (!committed) return done(committed.error());
    if (what == PendingRequests::WaitFor::verified &&
        binding.state != fabric::BindingState::verified)
      bind_requested_.try_emplace(binding.attachment, asked);
    pending_.add(binding.attachment, what, until, done);
    const auto now = deps_.registry.bindings.binding(binding.attachment);
    pending_.notify(now ? *now : binding);
  });
}

void Controller::sync(const Caller&, const fabricapi::SyncRequest& request,
                      Done<fabricapi::SyncAnswer> done) {
  answer(deps_.registry.nodes.sync(request, now_), std::move(done));
}

void Controller::allocate_guids(const Caller& caller, const fabricapi::AllocateRequest& request,
                                Done<std::vector<fabricapi::AllocatedGuid>> done) {
  const uint64_t before = deps_.registry.journal.changes();
  auto allocated = deps_.registry.nodes.allocate(request);
  if (allocated) deps_.registry.nodes.note_contact(request.node, now_);
  audit(caller, "allocate GUIDs", request.node + "/" + request.pf, status_of(allocated),
        effect_since(before));
  answer(std::move(allocated), std::move(done));
}

void Controller::forget_node(const Caller& caller, const fabricapi::ForgetRequest& request,
                             Deadline deadline, Done<v1::FabricNode> done) {
  const std::string& node = request.node;
  const Result<v1::FabricNode> forgotten = deps_.registry.nodes.forget(request, now_);
  audit(caller, request.force ? "force forget node" : "forget node", node, status_of(forgotten));
  if (!forgotten) return done(forgotten);
  namespaces_.forget(node);
  when_committed(
      [this, node, until = until(deadline), done = std::move(done)](const Status& committed) {
        if (!committed) return done(committed.error());
        pending_forgets_.push_back({node, until, done});
      });
}

}  // namespace ibpod::sm::controller
