#include "tests/support/ufm/ufm_model.h"

#include "tests/support/ufm/rules.h"

#include <algorithm>

namespace ibpod::fake_ufm {
namespace {

constexpr size_t kMostUndone = 1000;

bool is_done(FaultKind kind) {
  switch (kind) {
    case FaultKind::refuse:
    case FaultKind::html:
    case FaultKind::ignore:
    case FaultKind::hang:
      return false;
    default:
      return true;
  }
}

Delivery delivery_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::html:
      return Delivery::html;
    case FaultKind::lose_answer:
      return Delivery::reset;
    case FaultKind::hang:
    case FaultKind::hang_after:
      return Delivery::never;
    case FaultKind::slow:
      return Delivery::slow;
    case FaultKind::truncate:
      return Delivery::truncated;
    default:
      return Delivery::whole;
  }
}

}  // namespace

UfmModel::UfmModel(Clock clock) : clock_(std::move(clock)) {
  partitions_[kManagement] = Partition{"management"};
}

Outcome UfmModel::call(const Call& call) {
  const std::lock_guard lock(mutex_);
  if (is_of_groups(call.operation)) return change_groups(call);
  const std::optional<Partition> before = find(call.pkey);
  Outcome outcome = carry_out(call, faults_.take(call));
  const bool changed = find(call.pkey) != before;
  if (changed) {
    push({call.pkey, before});
    note_change();
  }
  log_.push_back({clock_(), call, outcome.status, outcome.delivery, changed});
  return outcome;
}

// They are no partitions: neither their generation nor last_updated changes.
Outcome UfmModel::change_groups(const Call& call) {
  const GuidMappings before = groups_;
  Outcome outcome = carry_out(call, faults_.take(call));
  const bool changed = groups_ != before;
  if (changed) push({.pkey = {}, .before = {}, .groups = before});
  log_.push_back({clock_(), call, outcome.status, outcome.delivery, changed});
  return outcome;
}

void UfmModel::push(Undo undo) {
  undo_.push_back(std::move(undo));
  if (undo_.size() > kMostUndone) undo_.pop_front();
}

Outcome UfmModel::apply_to(const Call& call, Partitions& partitions, GuidMappings& groups) const {
  return is_of_groups(call.operation) ? groups.apply(call, switches_)
                                      : apply(call, switches_, known_, partitions);
}

void UfmModel::log_refusal(const Call& call, int status) {
  const std::lock_guard lock(mutex_);
  log_.push_back({clock_(), call, status});
}

Outcome UfmModel::carry_out(const Call& call, const std::optional<Fault>& fault) {
  if (!fault) return apply_to(call, partitions_, groups_);
  Outcome outcome;
  if (fault->kind == FaultKind::half_done) {
    Call half = call;
    half.guids.resize(call.guids.size() / 2);
    half.memberships.resize(std::min(call.memberships.size(), half.guids.size()));
    // The caller learns of the fault alone. A group of GUIDs has no half.
    if (!is_of_groups(call.operation)) (void)apply_to(half, partitions_, groups_);
  } else if (is_done(fault->kind)) {
    outcome = apply_to(call, partitions_, groups_);
  } else if (fault->kind == FaultKind::ignore) {
    Partitions copy = partitions_;
    GuidMappings copy_of_groups = groups_;
    outcome = apply_to(call, copy, copy_of_groups);
  }
  if (fault->kind == FaultKind::refuse || fault->kind == FaultKind::half_done)
    outcome = Outcome{.status = fault->status, .text = fault->text};
  if (fault->kind == FaultKind::html) outcome = Outcome{.status = 503};
  outcome.delivery = delivery_of(fault->kind);
  outcome.delay = fault->delay;
  return outcome;
}

std::optional<Partition> UfmModel::find(ib::PKey pkey) const {
  const auto found = partitions_.find(pkey);
  return found == partitions_.end() ? std::nullopt : std::optional(found->second);
}

void UfmModel::note_change() {
  ++generation_;
  last_updated_ = clock_();
  if (listener_) listener_();
}

Switches UfmModel::switches() const {
  const std::lock_guard lock(mutex_);
  return switches_;
}

void UfmModel::set_switches(const Switches& switches) {
  const std::lock_guard lock(mutex_);
  switches_ = switches;
}

void UfmModel::set_known(std::set<ib::Guid> guids) {
  const std::lock_guard lock(mutex_);
  known_ = std::move(guids);
}

void UfmModel::inject(Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push(std::move(fault));
}

void UfmModel::clear_faults() {
  const std::lock_guard lock(mutex_);
  faults_.clear();
}

size_t UfmModel::lose_writes(size_t count) {
  const std::lock_guard lock(mutex_);
  size_t lost = 0;
  for (; lost < count && !undo_.empty(); ++lost) {
    const Undo& undo = undo_.back();
    if (undo.groups)
      groups_ = *undo.groups;
    else if (undo.before)
      partitions_[undo.pkey] = *undo.before;
    else
      partitions_.erase(undo.pkey);
    undo_.pop_back();
  }
  if (lost > 0) note_change();
  return lost;
}

Partitions UfmModel::partitions() const {
  const std::lock_guard lock(mutex_);
  return partitions_;
}

void UfmModel::set_partitions(Partitions partitions) {
  const std::lock_guard lock(mutex_);
  partitions_ = std::move(partitions);
  partitions_.try_emplace(kManagement, Partition{"management"});
  undo_.clear();
  note_change();
}

GuidGroups UfmModel::groups() const {
  const std::lock_guard lock(mutex_);
  return groups_.all();
}

std::vector<LogEntry> UfmModel::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

void UfmModel::clear_log() {
  const std::lock_guard lock(mutex_);
  log_.clear();
}

uint64_t UfmModel::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

std::pair<uint64_t, Partitions> UfmModel::snapshot() const {
  const std::lock_guard lock(mutex_);
  return {generation_, partitions_};
}

std::optional<UfmModel::Time> UfmModel::last_updated() const {
  const std::lock_guard lock(mutex_);
  return last_updated_;
}

void UfmModel::set_listener(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

}  // namespace ibpod::fake_ufm
