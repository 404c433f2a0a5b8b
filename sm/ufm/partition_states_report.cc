// The part of PartitionStates for operators.
#include "lib/base/join.h"
#include "sm/ufm/partition_states.h"

namespace ibpod::sm::ufm {
namespace {

using engine::PortFault;

constexpr size_t kMostListed = 4;

std::string list(const std::vector<ib::Guid>& guids) {
  return join_first(kMostListed, guids, &ib::Guid::text);
}

std::string taken_text(ib::PKey pkey, const std::vector<ib::Guid>& owners) {
  return "P_Key " + pkey.text() + " is in use in UFM with ports that ibpod-sm did not put there (" +
         list(owners) + "), so it is not changed; remove them in UFM, or choose another P_Key";
}

std::string uncovered_text(ib::PKey pkey) {
  return "P_Key " + pkey.text() +
         " has members in UFM that ibpod-sm has put there, and is in no range of \"pkeys\" any "
         "more; remove them in UFM, or add a range for it";
}

std::vector<ib::Guid> present(const PartitionState& state) {
  std::vector<ib::Guid> guids;
  if (state.written != nullptr)
    for (const auto& [guid, member] : *state.written)
      if (find_member(state.shown, guid) != nullptr) guids.push_back(guid);
  return guids;
}

// By port and kind, each once.
std::vector<PortFault> merged(const std::vector<PortFault>& faults) {
  std::map<std::pair<ib::Guid, PortFault::Kind>, std::string> texts;
  for (const PortFault& fault : faults) add_item(texts[{fault.port, fault.kind}], "; ", fault.text);
  std::vector<PortFault> all;
  for (const auto& [key, text] : texts) all.push_back({key.first, key.second, text});
  return all;
}

}  // namespace

std::vector<PortFault> PartitionStates::port_faults() const {
  std::vector<PortFault> faults = faults_.faults();
  for (const ib::PKey pkey : ours()) {
    const PartitionState state = this->state(pkey);
    if (!is_covered(pkey)) {
      for (const ib::Guid guid : present(state))
        faults.push_back({guid, Kind::not_removed, uncovered_text(pkey)});
      continue;
    }
    const std::vector<ib::Guid> owners = ufm::owners(state);
    if (owners.empty() || state.desired == nullptr) continue;
    for (const auto& [guid, values] : state.desired->members)
      faults.push_back({guid, Kind::not_added, taken_text(pkey, owners)});
  }
  return merged(faults);
}

std::string PartitionStates::alarms(Time now) const {
  std::string text;
  const auto add = [&](const std::string& alarm) { add_item(text, "; ", alarm); };
  if (widened_ && now - widened_->first <= 2 * settings_.read_interval) add(widened_->second);
  for (const ib::PKey pkey : ours()) {
    const PartitionState state = this->state(pkey);
    const std::vector<ib::Guid> foreign = compare(state).foreign;
    if (!is_covered(pkey)) {
      if (!present(state).empty()) add(uncovered_text(pkey));
    } else if (!owners(state).empty()) {
      if (state.desired != nullptr) add(taken_text(pkey, foreign));
    } else if (!foreign.empty()) {
      add("P_Key " + pkey.text() + " has members in UFM that ibpod-sm did not put there (" +
          list(foreign) + "): remove them in UFM");
    }
    if (state.desired != nullptr && state.shown != nullptr &&
        state.shown->ip_over_ib.value_or(state.desired->ip_over_ib) != state.desired->ip_over_ib)
      add("UFM has P_Key " + pkey.text() + " with ip_over_ib " +
          (*state.shown->ip_over_ib ? "true" : "false") + ", and " +
          (state.desired->ip_over_ib ? "true" : "false") +
          " is desired, which it takes only for a new partition: set it in UFM");
  }
  return text;
}

std::map<ib::PKey, std::vector<ib::Guid>> PartitionStates::taken() const {
  std::map<ib::PKey, std::vector<ib::Guid>> taken;
  for (const auto& [pkey, partition] : shown_.all()) {
    if (!is_covered(pkey) || desired_->contains(pkey)) continue;
    std::vector<ib::Guid> owners = ufm::owners(state(pkey));
    if (!owners.empty()) taken[pkey] = std::move(owners);
  }
  return taken;
}

}  // namespace ibpod::sm::ufm
