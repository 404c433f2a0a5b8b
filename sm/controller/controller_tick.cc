// tick(): commits changes, passes them to the subnet manager, and answers waiting callers.
#include "sm/controller/controller.h"
#include "sm/controller/own_caller.h"
#include "sm/state/names.h"

#include <utility>

namespace ibpod::sm::controller {

// The order of the steps matters: only committed changes are published and answered.
void Controller::tick() {
  deps_.telemetry.log_dropped();
  const Status expired = deps_.registry.bindings.expire(now_);
  deps_.telemetry.report_condition("leases", expired ? "" : expired.error().text());
  expire_postponed();
  do {
    if (commit()) publish();  // only what is on disk
    notify_changes();
  } while (retry_postponed() || reconcile_declared());
  start_repairs();
  poll_pending();
  pending_.expire(now_.steady, [this](const fabric::Attachment& attachment) {
    const auto binding = deps_.registry.bindings.binding(attachment);
    return binding ? std::optional(*binding) : std::nullopt;
  });
  answer_forgetting();
}

std::optional<Controller::Time> Controller::due() const {
  std::optional<Time> first = pending_.due();
  const auto consider = [&](std::optional<Time> time) {
    if (time && (!first || *time < *first)) first = time;
  };
  consider(deps_.registry.bindings.next_expiry());
  consider(declared_.due());
  consider(postponed_.due());
  for (const PendingForget& one : pending_forgets_) consider(one.until);
  return first;
}

bool Controller::commit() {
  const state::CommitResult committed = deps_.registry.journal.commit(now_);
  const Status& status = committed.status;
  if (committed.wrote || !status)
    deps_.telemetry.report_condition("store", status ? "" : status.error().text());
  if (!status) declared_.commit_failed(now_.steady);
  for (const auto& answer : std::exchange(on_commit_, {})) answer(status);
  audit_expired(committed.expired, status);
  return status.ok();
}

// Passes committed partitions to the subnet manager, and its progress to the registry.
void Controller::publish() {
  if (published_.publish(deps_.registry.journal.version(), deps_.registry.partitions.definitions()))
    verifier_.set_desired(published_.desired(), published_.unmanaged());
  deps_.registry.bindings.note_written(verifier_.applied(), now_);
  deps_.registry.partitions.note_swept(verifier_.swept());
  deps_.registry.partitions.set_engine_fault(engine_fault_);
  deps_.registry.partitions.note_deleted(now_);
}

std::optional<telemetry::Telemetry::BindDurations> Controller::durations_of(
    const fabric::Attachment& attachment) const {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto asked = bind_requested_.find(attachment);
  if (asked == bind_requested_.end()) return std::nullopt;
  const Time now = deps_.clock();
  return telemetry::Telemetry::BindDurations{duration_cast<microseconds>(now - asked->second),
                                             duration_cast<microseconds>(now - now_.steady)};
}

void Controller::notify_changes() {
  const std::vector<fabricapi::BindingChange> changes = deps_.registry.journal.take_changes();
  for (const fabricapi::BindingChange& change : changes) {
    deps_.telemetry.changed(change.binding, durations_of(change.binding.attachment));
    // A node that was silent may have rebooted: its earlier reports do not count.
    if (change.binding.condition.reason == fabric::Reason::lease)
      verifier_.forget_report(change.binding.guid);
    const auto asked = bind_requested_.find(change.binding.attachment);
    const bool verified = change.binding.state == fabric::BindingState::verified;
    if (asked != bind_requested_.end() && verified)
      deps_.telemetry.verified(change.binding.proof, now_.steady - asked->second);
    if (asked != bind_requested_.end() && (verified || change.gone)) bind_requested_.erase(asked);
    pending_.notify(change.binding);
    if (change.gone) postponed_.port_released(change.binding.guid);
  }
  watches_.notify(changes);
}

// Retries Binds whose port has been released. Returns true if there were any.
bool Controller::retry_postponed() {
  std::vector<PostponedBind> ready = postponed_.take_ready();
  for (PostponedBind& bind : ready) try_bind(std::move(bind));
  return !ready.empty();
}

bool Controller::reconcile_declared() {
  return declared_.reconcile(now_, [this](const std::string& action, const std::string& partition) {
    audit(own_caller("declared file"), action, partition, ok());
  });
}

void Controller::expire_postponed() {
  for (const PostponedBind& bind : postponed_.take_expired(now_.steady))
    refuse(bind, bind.context.is_cancelled() ? kCancelled : bind.why);
}

void Controller::start_repairs() {
  std::vector<probe::Repair> repairs = verifier_.take_repairs();
  if (!repairs.empty()) deps_.prober.repair(std::move(repairs));
}

void Controller::poll_pending() {
  std::set<ib::Guid> ports = deps_.registry.bindings.unsettled();
  ports.merge(verifier_.unsettled());
  if (ports == polled_) return;
  polled_ = ports;
  deps_.prober.poll(std::move(ports));
}

void Controller::answer_forgetting() {
  for (PendingForget& one : std::exchange(pending_forgets_, {})) {
    std::optional<v1::FabricNode> node = deps_.registry.nodes.find(one.node);
    if (node && one.until > now_.steady) {
      pending_forgets_.push_back(std::move(one));
      continue;
    }
    if (!node) node.emplace().set_name(one.node);
    one.done(std::move(*node));
  }
}

}  // namespace ibpod::sm::controller
