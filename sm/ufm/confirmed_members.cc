#include "sm/ufm/confirmed_members.h"

#include <utility>

namespace ibpod::sm::ufm {
namespace {

bool is_as(const UfmMember* shown, bool leaving, const MemberValues& values) {
  return shown == nullptr ? leaving : !leaving && has_values(*shown, values);
}

}  // namespace

void ConfirmedMembers::changing(const Step& step) {
  const auto partition = confirmed_.find(step.pkey);
  if (partition == confirmed_.end()) return;
  for (const ib::Guid guid : step.guids) partition->second.erase(guid);
}

std::vector<ib::Guid> ConfirmedMembers::note_read(const PartitionState& state, Time now) {
  std::map<ib::Guid, Confirmed> before = std::exchange(confirmed_[state.pkey], {});
  std::map<ib::Guid, Confirmed>& confirmed = confirmed_[state.pkey];
  std::vector<ib::Guid> changed;
  for (const auto& [guid, known] : before)
    if (find_member(state.written, guid) != nullptr &&
        !is_as(find_member(state.shown, guid), known.leaving, known.values))
      changed.push_back(guid);
  if (state.written != nullptr)
    for (const auto& [guid, written] : *state.written) {
      if (!is_as(find_member(state.shown, guid), written.leaving, written.values)) continue;
      Confirmed entry{written.leaving, written.values, now};
      const auto known = before.find(guid);
      if (known != before.end() && known->second.leaving == written.leaving)
        entry.since = known->second.since;
      confirmed[guid] = entry;
    }
  if (confirmed.empty()) confirmed_.erase(state.pkey);
  return changed;
}

std::vector<ib::Guid> ConfirmedMembers::gone_since(const PartitionState& state, Time time) const {
  std::vector<ib::Guid> gone;
  const auto partition = confirmed_.find(state.pkey);
  if (state.written == nullptr || partition == confirmed_.end()) return gone;
  for (const auto& [guid, written] : *state.written) {
    const auto known = partition->second.find(guid);
    if (written.leaving && known != partition->second.end() && known->second.leaving &&
        known->second.since <= time)
      gone.push_back(guid);
  }
  return gone;
}

}  // namespace ibpod::sm::ufm
