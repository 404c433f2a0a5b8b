// tick(): commits changes, passes them to the engine, and answers waiting callers.
#include "sm/controller/controller.h"
#include "sm/opensm/partitions_file.h"
#include "sm/registry/names.h"

#include <utility>

namespace ibpod::sm::controller {

bool Controller::commit() {
  const bool writes = deps_.registry.staged();
  const Status committed = deps_.registry.commit(now_);
  if (writes || !committed)
    deps_.telemetry.report_condition("store", committed ? "" : committed.error().text());
  if (!committed) declare_later();
  for (const auto& answer : std::exchange(on_commit_, {})) answer(committed);
  return committed.ok();
}

// Passes committed partitions to the engine, and its progress to the registry.
void Controller::enforce() {
  if (deps_.registry.version() != published_version_) {
    published_version_ = deps_.registry.version();
    partitions_ = deps_.registry.partitions();
    update_desired_keys();
    deps_.subnet_manager.apply(published_version_, partitions_);
  }
  deps_.registry.note_written(applied_.newest(), now_);
  deps_.registry.note_swept(swept_.newest());
  deps_.registry.set_engine_fault(engine_fault_);
  deps_.registry.note_deleted(now_);
}

// If another subnet manager writes the tables, the default key may be at any index.
std::vector<fabric::PartitionDefinition> Controller::resulting_partitions(
    std::vector<fabric::PartitionDefinition> own) const {
  own.insert(own.end(), manual_partitions_.begin(), manual_partitions_.end());
  return deps_.subnet_manager.writes() ? opensm::as_written(std::move(own)) : std::move(own);
}

void Controller::update_desired_keys() {
  std::vector<fabric::PartitionDefinition> others = manual_partitions_;
  others.insert(others.begin(), partitions_->front());
  unmanaged_keys_ = verify::DesiredKeys(others);
  resulting_partitions_ = resulting_partitions(*partitions_);
  desired_keys_ = verify::DesiredKeys(resulting_partitions_);
}

std::optional<telemetry::Telemetry::BindDurations> Controller::durations_of(
    const fabric::Attachment& attachment) const {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto asked = bind_requested_.find(attachment);
  if (asked == bind_requested_.end()) return std::nullopt;
  const verify::VersionHistory::Time now = deps_.clock();
  return telemetry::Telemetry::BindDurations{duration_cast<microseconds>(now - asked->second),
                                             duration_cast<microseconds>(now - now_.steady)};
}

void Controller::publish_changes() {
  note_ended();
  const std::vector<fabricapi::BindingChange> changes = deps_.registry.take_changes();
  for (const fabricapi::BindingChange& change : changes) {
    deps_.telemetry.changed(change.binding, durations_of(change.binding.attachment));
    // A node that was silent may have rebooted: its earlier reports do not count.
    if (change.binding.condition.reason == fabric::Reason::lease)
      observations_.forget_node(change.binding.guid);
    const auto asked = bind_requested_.find(change.binding.attachment);
    const bool verified = change.binding.state == fabric::BindingState::verified;
    if (asked != bind_requested_.end() && verified)
      deps_.telemetry.verified(change.binding.proof, now_.steady - asked->second);
    if (asked != bind_requested_.end() && (verified || change.gone)) bind_requested_.erase(asked);
    pending_.notify(change.binding);
    if (change.gone) released_ports_.insert(change.binding.guid);
  }
  watches_.notify(changes);
}

// Retries Binds whose port has been released. Returns true if there were any.
bool Controller::retry_postponed() {
  const std::set<ib::Guid> left = std::exchange(released_ports_, {});
  if (left.empty() || postponed_.empty()) return false;
  std::vector<PostponedBind> retried;
  for (PostponedBind& one : std::exchange(postponed_, {})) {
    if (left.contains(one.request.guid))
      retried.push_back(std::move(one));
    else
      postponed_.push_back(std::move(one));
  }
  for (PostponedBind& one : retried) try_bind(std::move(one));
  return !retried.empty();
}

void Controller::tick() {
  deps_.telemetry.log_dropped();
  const Status expired = deps_.registry.expire(now_);
  deps_.telemetry.report_condition("leases", expired ? "" : expired.error().text());
  audit_expired();
  expire_postponed();
  do {
    if (commit()) enforce();
    publish_changes();
  } while (retry_postponed() || declare_again());
  start_repairs();
  poll_pending();
  pending_.expire(now_.steady, [this](const fabric::Attachment& attachment) {
    const auto binding = deps_.registry.binding(kController, attachment);
    return binding ? std::optional(*binding) : std::nullopt;
  });
  answer_forgetting();
}

// Ends postponed Binds whose deadline has passed or whose caller has cancelled.
void Controller::expire_postponed() {
  for (PostponedBind& one : std::exchange(postponed_, {})) {
    if (one.context.is_cancelled())
      refuse_postponed(one, kCancelled);
    else if (one.until > now_.steady)
      postponed_.push_back(std::move(one));
    else
      refuse_postponed(one, one.why);
  }
}

void Controller::refuse_postponed(const PostponedBind& one, const Error& why) {
  audit(one.caller, "bind", registry::text(one.request.attachment), why);
  one.done(why);
}

void Controller::drop_postponed(const fabric::Attachment& attachment) {
  for (PostponedBind& one : std::exchange(postponed_, {})) {
    if (one.request.attachment != attachment)
      postponed_.push_back(std::move(one));
    else
      refuse_postponed(one, Error(Code::unavailable, "unbound before the port was free"));
  }
}

void Controller::answer_forgetting() {
  for (PendingForget& one : std::exchange(pending_forgets_, {})) {
    const std::optional<fabricapi::Node> node = deps_.registry.node(one.node);
    if (node && one.until > now_.steady)
      pending_forgets_.push_back(std::move(one));
    else
      one.done(node.value_or(fabricapi::Node{.name = one.node, .last_heard = {}}));
  }
}

std::optional<verify::VersionHistory::Time> Controller::due() const {
  std::optional<verify::VersionHistory::Time> first = pending_.due();
  const auto consider = [&](std::optional<verify::VersionHistory::Time> time) {
    if (time && (!first || *time < *first)) first = time;
  };
  consider(deps_.registry.next_expiry());
  consider(declare_at_);
  for (const PostponedBind& one : postponed_) consider(one.until);
  for (const PendingForget& one : pending_forgets_) consider(one.until);
  return first;
}

}  // namespace ibpod::sm::controller
