#include "sm/ufm/partition_states.h"

#include <algorithm>

namespace ibpod::sm::ufm {
namespace {

// A failover may bring back what was removed so long before.
constexpr std::chrono::minutes kKeptLeaving{10};
constexpr std::chrono::minutes kStuck{2};

const DesiredPartition* find(const DesiredPartitions& partitions, ib::PKey pkey) {
  const auto found = partitions.find(pkey);
  return found == partitions.end() ? nullptr : &found->second;
}

// Nullptr values: it must not be there.
bool is_as(const UfmMember* shown, const MemberValues* values) {
  return shown == nullptr || values == nullptr ? (shown == nullptr) == (values == nullptr)
                                               : has_values(*shown, *values);
}

bool is_right(const PartitionState& state, ib::Guid guid) {
  return is_as(find_member(state.shown, guid), find_member(state.desired, guid));
}

std::string ignored_text(const PartitionState& state, ib::Guid guid) {
  const std::string where = " in P_Key " + state.pkey.text();
  const UfmMember* const shown = find_member(state.shown, guid);
  if (find_member(state.desired, guid) == nullptr)
    return "UFM has accepted to remove the port, and still shows it" + where;
  if (shown == nullptr) return "UFM has accepted the port, and does not show it" + where;
  if (!shown->membership || !shown->index0)
    return "UFM does not show the membership and index 0 of the port" + where;
  return "UFM has accepted the port, and shows it with another membership or index 0" + where;
}

// A removed member keeps its fault until `settled`: UFM's OpenSM may still write it into a table.
void update_faults(const PartitionState& state, MemberFaults& faults,
                   PartitionStates::Time settled) {
  for (const ib::Guid guid : faults.members(PartitionStates::Kind::not_added, state.pkey))
    if (find_member(state.desired, guid) == nullptr || is_right(state, guid))
      faults.settle(PartitionStates::Kind::not_added, state.pkey, guid);
  for (const ib::Guid guid : faults.members(PartitionStates::Kind::not_removed, state.pkey)) {
    const bool is_desired = find_member(state.desired, guid) != nullptr;
    if (is_desired && (is_right(state, guid) || find_member(state.shown, guid) == nullptr))
      faults.settle(PartitionStates::Kind::not_removed, state.pkey, guid);
    else if (!is_desired && find_member(state.shown, guid) == nullptr)
      faults.settle(PartitionStates::Kind::not_removed, state.pkey, guid, settled);
  }
}

}  // namespace

PartitionState PartitionStates::whole_state(ib::PKey pkey) const {
  const auto found = known_foreign_.find(pkey);
  return {pkey, find(*desired_, pkey), shown_.find(pkey), written_.find(pkey),
          found == known_foreign_.end() ? nullptr : &found->second};
}

std::set<ib::PKey> PartitionStates::ours() const {
  std::set<ib::PKey> pkeys;
  for (const auto& [pkey, partition] : *desired_) pkeys.insert(pkey);
  for (const auto& [pkey, partition] : written_.all()) pkeys.insert(pkey);
  return pkeys;
}

void PartitionStates::want(std::shared_ptr<const DesiredPartitions> desired) {
  desired_ = std::move(desired);
  std::erase_if(known_foreign_,
                [&](const auto& entry) { return !desired_->contains(entry.first); });
  for (const ib::PKey pkey : faults_.pkeys())
    for (const ib::Guid guid : faults_.members(Kind::not_added, pkey))
      if (find_member(find(*desired_, pkey), guid) == nullptr)
        faults_.settle(Kind::not_added, pkey, guid);
}

// --- calls

// A port can be at index 0 of its table with one P_Key only, so the other one has to give it up
// before.
bool PartitionStates::waits_for_index0(const Step& step, ib::Guid guid) const {
  if (step.of_class.kind != Step::Kind::addition || !step.of_class.index0) return false;
  return std::any_of(written_.all().begin(), written_.all().end(), [&](const auto& entry) {
    const ib::PKey other = entry.first;
    const UfmMember* const shown = find_member(shown_.find(other), guid);
    const MemberValues* const desired = find_member(find(*desired_, other), guid);
    return other != step.pkey && settings_.covers(other) && shown != nullptr &&
           shown->index0 == true && (desired == nullptr || !desired->index0) &&
           !faults_.has(Kind::not_added, other, guid) &&
           !faults_.has(Kind::not_removed, other, guid);
  });
}

std::vector<Step> PartitionStates::steps(ib::PKey pkey, Time now) const {
  if (!settings_.covers(pkey)) return {};
  const PartitionState state = this->state(pkey);
  std::vector<Step> steps =
      plan(state, compare(state), faults_.retries(pkey, now), settings_.foreign_members);
  for (Step& step : steps)
    std::erase_if(step.guids, [&](ib::Guid guid) {
      return shown_.is_pending(step, guid) || waits_for_index0(step, guid);
    });
  std::erase_if(steps, [](const Step& step) { return step.guids.empty(); });
  return steps;
}

std::optional<Step> PartitionStates::next_step(Time now) {
  const std::set<ib::PKey> pkeys = ours();
  std::vector<ib::PKey> order(pkeys.lower_bound(turn_), pkeys.end());
  order.insert(order.end(), pkeys.begin(), pkeys.lower_bound(turn_));
  for (const ib::PKey pkey : order)
    for (Step& step : steps(pkey, now)) {
      if (shown_.is_done(step)) continue;
      turn_ = pkey;
      return std::move(step);
    }
  return std::nullopt;
}

Status PartitionStates::begin(const Step& step, Time now) {
  const PartitionState state = this->state(step.pkey);
  WrittenPartition record = record_with(state, steps(step.pkey, now));
  const bool is_new = state.written == nullptr ? !record.empty() : record != *state.written;
  if (is_new) TRY(written_.write(step.pkey, std::move(record)));
  shown_.touch(step);
  confirmed_.changing(step);
  return ok();
}

void PartitionStates::accepted(const Step& step) {
  const bool adds = step.of_class.kind == Step::Kind::addition;
  (adds ? counts_.additions : counts_.removals) += step.guids.size();
  for (const ib::Guid guid : step.guids)
    accepted_[step.pkey][guid] = adds ? Kind::not_added : Kind::not_removed;
}

void PartitionStates::refused(const Step& step, const std::string& why, Time now) {
  ++counts_.refused;
  faults_.refused(step, why, now);
}

void PartitionStates::invalidate() {
  ++counts_.failed;
  shown_.invalidate();
}

// --- readings

bool PartitionStates::read_all(std::vector<UfmPartition> partitions, Time now) {
  ++counts_.scans;
  counts_.foreign = 0;
  shown_.read_all(std::move(partitions));
  bool changed = false;
  for (const ib::PKey pkey : ours()) {
    changed = note_read(pkey, now) || changed;
    const PartitionState state = this->state(pkey);
    if (owners(state).empty()) counts_.foreign += compare(state).foreign.size();
  }
  return changed;
}

bool PartitionStates::read(ib::PKey pkey, std::optional<UfmPartition> partition, Time now) {
  shown_.read(pkey, std::move(partition));
  return note_read(pkey, now);
}

// One reading without the partition, from a UFM that has just started, must not make it theirs.
void PartitionStates::note_foreign(ib::PKey pkey) {
  const PartitionState state = whole_state(pkey);
  if (state.desired == nullptr || state.shown == nullptr || state.shown->members.empty()) return;
  if (!owners(state).empty()) return;
  const std::vector<ib::Guid> foreign = compare(state).foreign;
  if (foreign.empty())
    known_foreign_.erase(pkey);
  else
    known_foreign_[pkey] = {foreign.begin(), foreign.end()};
}

bool PartitionStates::note_read(ib::PKey pkey, Time now) {
  note_foreign(pkey);
  tidy_record(state(pkey), now);
  const std::vector<ib::Guid> changed = confirmed_.note_read(state(pkey), now);
  // It is no loss if another user has removed what we were about to remove.
  const bool lost = std::any_of(changed.begin(), changed.end(), [&](ib::Guid guid) {
    return find_member(state(pkey).desired, guid) != nullptr ||
           find_member(state(pkey).shown, guid) != nullptr;
  });
  const std::vector<ib::Guid> widened = compare(state(pkey)).widened;
  counts_.widened += widened.size();
  if (!widened.empty())
    widened_ = {now, widened.size(),
                "UFM made " +
                    (widened.size() == 1 ? "1 port a full member"
                                         : std::to_string(widened.size()) + " ports full members") +
                    " of P_Key " + pkey.text() + " although limited was asked for (" +
                    widened.front().text() + ")"};
  check_accepted(state(pkey), now);
  update_faults(state(pkey), faults_, now + settings_.effect);
  return lost;
}

void PartitionStates::check_accepted(const PartitionState& state, Time now) {
  const auto accepted = accepted_.extract(state.pkey);
  if (accepted.empty()) return;
  for (const auto& [guid, kind] : accepted.mapped()) {
    const UfmMember* const shown = find_member(state.shown, guid);
    const MemberValues* const desired = find_member(state.desired, guid);
    const WrittenMember* const written = find_member(state.written, guid);
    const bool is_as_asked = kind == Kind::not_removed ? shown == nullptr
                                                       : shown != nullptr && written != nullptr &&
                                                             has_values(*shown, written->values);
    if (is_as_asked) {
      last_shown_ = now;
    } else if (!is_right(state, guid) && (kind == Kind::not_removed || desired != nullptr)) {
      ++counts_.ignored;
      const bool in_place = shown != nullptr && shown->membership && shown->index0;
      faults_.ignored(kind, state.pkey, guid, in_place, ignored_text(state, guid), now);
    }
  }
}

// An error is no fault: the record is written again after the next reading. Until then members
// count as shown that are not shown any more.
void PartitionStates::tidy_record(const PartitionState& state, Time now) {
  WrittenPartition record = record_with(state, {});
  for (const ib::Guid guid : confirmed_.gone_since(state, now - kKeptLeaving)) record.erase(guid);
  const bool is_new = state.written == nullptr ? !record.empty() : record != *state.written;
  if (is_new) (void)written_.write(state.pkey, std::move(record));  // see above
}

// --- results

bool PartitionStates::are_in_place(const DesiredPartitions& candidate) const {
  std::set<ib::PKey> pkeys = ours();
  for (const auto& [pkey, partition] : candidate) pkeys.insert(pkey);
  for (const ib::PKey pkey : pkeys) {
    if (!settings_.covers(pkey)) continue;
    const PartitionState state = this->state(pkey);
    const bool is_taken = !owners(state).empty();
    const DesiredPartition* const before = is_taken ? nullptr : find(candidate, pkey);
    const std::vector<ib::Guid> widened = compare(state).widened;
    // A widened member is removed first.
    const auto is_settled = [&](ib::Guid guid) {
      return is_right(state, guid) ||
             is_as(find_member(state.shown, guid), find_member(before, guid)) ||
             faults_.has(Kind::not_removed, pkey, guid) ||
             (find_member(state.desired, guid) != nullptr &&
              faults_.has(Kind::not_added, pkey, guid) &&
              !std::binary_search(widened.begin(), widened.end(), guid));
    };
    if (before != nullptr)
      for (const auto& [guid, values] : before->members)
        if (!is_settled(guid)) return false;
    if (state.written != nullptr)
      for (const auto& [guid, written] : *state.written)
        if (find_member(before, guid) == nullptr && !is_settled(guid)) return false;
  }
  return true;
}

bool PartitionStates::are_stuck(Time now) const {
  return last_shown_ <= now - kStuck && faults_.ignores_all(now - kStuck);
}

}  // namespace ibpod::sm::ufm
