#include "sm/ufm/plan.h"

#include <algorithm>
#include <set>

namespace ibpod::sm::ufm {
namespace {

bool is_known(const UfmMember& shown) { return shown.membership && shown.index0; }

bool was_given_as_full(const WrittenMember* written) {
  return written == nullptr || written->values.membership == ib::Membership::full;
}

// A full member that our record does not have is not UFM's doing.
bool is_widened(const UfmMember& shown, const MemberValues& desired, const WrittenMember* written) {
  return shown.membership == ib::Membership::full &&
         desired.membership == ib::Membership::limited && !was_given_as_full(written);
}

void compare_member(const PartitionState& state, const UfmMember& shown, Difference& difference) {
  const MemberValues* const desired = find_member(state.desired, shown.guid);
  const WrittenMember* const written = find_member(state.written, shown.guid);
  if (desired == nullptr)
    (written == nullptr ? difference.foreign : difference.leftover).push_back(shown.guid);
  else if (is_widened(shown, *desired, written))
    difference.widened.push_back(shown.guid);
  else if (!is_known(shown))
    difference.unknown.push_back(shown.guid);
  else if (!has_values(shown, *desired))
    difference.wrong.push_back(shown.guid);
}

Retry find(const std::map<ib::Guid, Retry>& retries, ib::Guid guid) {
  const auto found = retries.find(guid);
  return found == retries.end() ? Retry{} : found->second;
}

bool is_removed(ib::Guid guid, const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [guid](const Step& step) {
    return step.of_class.kind == Step::Kind::removal &&
           std::find(step.guids.begin(), step.guids.end(), guid) != step.guids.end();
  });
}

// UFM removes a partition with its last member: another user can make it before our additions.
bool ends_in_between(const PartitionState& state, const std::vector<Step>& steps) {
  return state.shown != nullptr &&
         std::all_of(state.shown->members.begin(), state.shown->members.end(),
                     [&](const UfmMember& member) { return is_removed(member.guid, steps); });
}

// Collects members by the class of their step.
class Batches {
 public:
  Batches(const PartitionState& state, const Retries& retries) : state_(state), retries_(retries) {}

  void remove(ib::Guid guid) {
    const Retry retry = find(retries_.remove, guid);
    if (!retry.waits) batches_[{Step::Kind::removal, kMostGuids - retry.together}].insert(guid);
  }
  void add(ib::Guid guid) {
    const Retry retry = find(retries_.add, guid);
    const MemberValues* const values = find_member(state_.desired, guid);
    if (retry.waits || values == nullptr) return;
    batches_[{Step::Kind::addition, kMostGuids - retry.together, values->membership,
              values->index0}]
        .insert(guid);
  }
  // Removes it first if UFM did not change its values, and its addition does not have to wait.
  void change(ib::Guid guid) {
    const Retry retry = find(retries_.add, guid);
    if (retry.remove_first && !retry.waits) remove(guid);
    add(guid);
  }

  std::vector<Step> steps() const {
    std::vector<Step> steps;
    for (const auto& [of_class, guids] : batches_)
      for (const ib::Guid guid : guids) {
        const size_t most = kMostGuids - of_class.alone;
        if (steps.empty() || steps.back().of_class != of_class || steps.back().guids.size() == most)
          steps.push_back(
              {state_.pkey, of_class, {}, state_.desired != nullptr && state_.desired->ip_over_ib});
        steps.back().guids.push_back(guid);
      }
    return steps;
  }

 private:
  const PartitionState& state_;
  const Retries& retries_;
  std::map<Step::Class, std::set<ib::Guid>> batches_;
};

}  // namespace

const UfmMember* find_member(const UfmPartition* partition, ib::Guid guid) {
  if (partition == nullptr) return nullptr;
  const auto& members = partition->members;
  const auto found = std::lower_bound(
      members.begin(), members.end(), guid,
      [](const UfmMember& member, ib::Guid wanted) { return member.guid < wanted; });
  return found == members.end() || found->guid != guid ? nullptr : &*found;
}

bool has_values(const UfmMember& shown, const MemberValues& values) {
  return shown.membership == values.membership && shown.index0 == values.index0;
}

Difference compare(const PartitionState& state) {
  Difference difference;
  if (state.shown != nullptr)
    for (const UfmMember& shown : state.shown->members) compare_member(state, shown, difference);
  if (state.desired != nullptr)
    for (const auto& [guid, values] : state.desired->members)
      if (find_member(state.shown, guid) == nullptr) difference.missing.push_back(guid);
  return difference;
}

std::vector<ib::Guid> owners(const PartitionState& state) {
  const auto makes_ours = [](const auto& entry) {
    return !entry.second.leaving && !entry.second.intended;
  };
  if (state.written != nullptr &&
      std::any_of(state.written->begin(), state.written->end(), makes_ours))
    return {};
  std::vector<ib::Guid> foreign = compare(state).foreign;
  if (state.known_foreign != nullptr)
    std::erase_if(foreign, [&](ib::Guid guid) { return state.known_foreign->contains(guid); });
  return foreign;
}

PartitionState effective(PartitionState state) {
  if (!owners(state).empty()) state.desired = nullptr;
  return state;
}

Addition addition_of(const Step& step) {
  return {step.pkey, step.of_class.membership, step.of_class.index0, step.ip_over_ib, step.guids};
}

std::vector<Step> plan(const PartitionState& state, const Difference& difference,
                       const Retries& retries, ForeignMembers foreign_members) {
  Batches batches(state, retries);
  for (const ib::Guid guid : difference.leftover) batches.remove(guid);
  if (!owners(state).empty()) return batches.steps();
  if (foreign_members == ForeignMembers::remove)
    for (const ib::Guid guid : difference.foreign) batches.remove(guid);
  for (const ib::Guid guid : difference.widened) {
    batches.remove(guid);
    batches.add(guid);
  }
  for (const ib::Guid guid : difference.wrong) batches.change(guid);
  for (const ib::Guid guid : difference.missing) batches.add(guid);
  for (const ib::Guid guid : difference.unknown) batches.add(guid);
  return batches.steps();
}

WrittenPartition record_with(const PartitionState& state, const std::vector<Step>& steps) {
  WrittenPartition record = state.written == nullptr ? WrittenPartition{} : *state.written;
  for (auto& [guid, member] : record)
    if (find_member(state.desired, guid) == nullptr && find_member(state.shown, guid) == nullptr)
      member.leaving = true;
  // Another user may make it before we do.
  if (state.shown == nullptr || state.shown->members.empty())
    for (auto& [guid, member] : record) member.intended = true;
  else if (owners(state).empty())
    for (const UfmMember& shown : state.shown->members) {
      const MemberValues* const desired = find_member(state.desired, shown.guid);
      if (desired != nullptr && has_values(shown, *desired)) record[shown.guid] = {*desired};
      if (const auto entry = record.find(shown.guid); entry != record.end())
        entry->second.intended = false;
    }
  const bool ends = ends_in_between(state, steps);
  for (const Step& step : steps)
    for (const ib::Guid guid : step.guids) {
      const auto entry = record.find(guid);
      if (step.of_class.kind == Step::Kind::addition)
        record[guid] = {
            .values = {step.of_class.membership, step.of_class.index0},
            .intended = entry == record.end() || entry->second.leaving || entry->second.intended};
      else if (entry != record.end())
        entry->second = {.values = entry->second.values,
                         .leaving = find_member(state.desired, guid) == nullptr,
                         .intended = entry->second.intended};
    }
  if (ends)
    for (auto& [guid, member] : record) member.intended = true;
  return record;
}

}  // namespace ibpod::sm::ufm
