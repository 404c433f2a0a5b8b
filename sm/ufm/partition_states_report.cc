// The part of PartitionStates for operators.
#include "lib/base/join.h"
#include "sm/ufm/partition_states.h"

namespace ibpod::sm::ufm {
namespace {

using engine::EngineFinding;
using engine::PartitionFault;
using engine::PortFault;

constexpr size_t kMostListed = 4;

std::string list(const std::vector<ib::Guid>& guids) {
  return join_first(kMostListed, guids, &ib::Guid::text);
}

EngineFinding widened_finding(size_t count, const std::string& text) {
  return {EngineFinding::Kind::widened, count, "UFM",
          text +
              ": until ibpod-sm has removed them, they reach limited members that they must not "
              "reach",
          "upgrade UFM; until then use no limited members in this partition. ibpod-sm removes such "
          "a member at once and adds it again"};
}

EngineFinding unwritten_finding(const std::string& text) {
  return {
      EngineFinding::Kind::unwritten_pkey, 1, "UFM", text,
      "remove these members in UFM if no other program needs them; or choose another P_Key for the "
      "partition, or add a range for this one. ibpod-sm continues by itself"};
}

EngineFinding foreign_finding(ib::PKey pkey, const std::vector<ib::Guid>& guids) {
  return {
      EngineFinding::Kind::foreign_member, guids.size(), "UFM",
      "P_Key " + pkey.text() + " has members in UFM that ibpod-sm did not put there (" +
          list(guids) + "): they reach the pods of this partition",
      "find the other client in UFM's rest_api.log, give it another range of P_Keys, and remove "
      "the members in UFM; or set ufm.foreignMembers to remove"};
}

EngineFinding ipoib_finding(ib::PKey pkey, bool desired) {
  const auto word = [](bool on) { return std::string(on ? "true" : "false"); };
  return {EngineFinding::Kind::other_ipoib, 1, "UFM",
          "UFM has P_Key " + pkey.text() + " with ip_over_ib " + word(!desired) + ", and " +
              word(desired) + " is desired, which it takes only for a new partition",
          "set it in UFM, or delete the partition and create it again"};
}

std::string taken_cause(ib::PKey pkey, const std::vector<ib::Guid>& owners) {
  const std::string count = std::to_string(owners.size());
  return "P_Key " + pkey.text() + " is in use in UFM with " + count +
         (owners.size() == 1 ? " port" : " ports") + " that ibpod-sm did not put there (" +
         list(owners) + "), so ibpod-sm adds no port to it";
}

std::string taken_text(ib::PKey pkey, const std::vector<ib::Guid>& owners) {
  return taken_cause(pkey, owners) + "; remove " + (owners.size() == 1 ? "it" : "them") +
         " in UFM, or choose another P_Key";
}

EngineFinding taken_finding(const std::map<ib::PKey, std::vector<ib::Guid>>& taken) {
  const auto text_of = [](const auto& entry) {
    return entry.first.text() + " with " + list(entry.second);
  };
  return {EngineFinding::Kind::unwritten_pkey, taken.size(), "UFM",
          "no partition of ibpod-sm has these P_Keys of its ranges, and UFM has ports in them that "
          "ibpod-sm did not put there: " +
              join_first(kMostListed, taken, text_of),
          "remove these members in UFM if they are from before a restore; if another client needs "
          "them, take its P_Keys out of \"pkeys\""};
}

std::string uncovered_cause(ib::PKey pkey) {
  return "P_Key " + pkey.text() +
         " has members in UFM that ibpod-sm has put there, and is in no range of \"pkeys\" any "
         "more";
}

std::string uncovered_text(ib::PKey pkey) {
  return uncovered_cause(pkey) + "; remove them in UFM, or add a range for it";
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
    const PartitionState state = whole_state(pkey);
    if (!settings_.covers(pkey)) {
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

std::vector<PartitionFault> PartitionStates::partition_faults() const {
  std::vector<PartitionFault> faults;
  for (const auto& [pkey, desired] : *desired_) {
    const std::vector<ib::Guid> owners = ufm::owners(whole_state(pkey));
    if (settings_.covers(pkey) && !owners.empty())
      faults.push_back({pkey, taken_text(pkey, owners)});
  }
  return faults;
}

std::vector<EngineFinding> PartitionStates::findings(Time now) const {
  std::vector<EngineFinding> findings;
  if (widened_ && now - widened_->at <= 2 * settings_.read_interval)
    findings.push_back(widened_finding(widened_->count, widened_->text));
  for (const ib::PKey pkey : ours()) {
    const PartitionState state = whole_state(pkey);
    const std::vector<ib::Guid> foreign = compare(state).foreign;
    if (!settings_.covers(pkey)) {
      if (!present(state).empty()) findings.push_back(unwritten_finding(uncovered_cause(pkey)));
    } else if (!owners(state).empty()) {
      if (state.desired != nullptr)
        findings.push_back(unwritten_finding(taken_cause(pkey, foreign)));
    } else if (!foreign.empty()) {
      findings.push_back(foreign_finding(pkey, foreign));
    }
    if (state.desired != nullptr && state.shown != nullptr &&
        state.shown->ip_over_ib.value_or(state.desired->ip_over_ib) != state.desired->ip_over_ib)
      findings.push_back(ipoib_finding(pkey, state.desired->ip_over_ib));
  }
  const auto taken = this->taken();
  if (!taken.empty()) findings.push_back(taken_finding(taken));
  return findings;
}

std::map<ib::PKey, std::vector<ib::Guid>> PartitionStates::taken() const {
  std::map<ib::PKey, std::vector<ib::Guid>> taken;
  for (const auto& [pkey, partition] : shown_.all()) {
    if (!settings_.covers(pkey) || desired_->contains(pkey)) continue;
    std::vector<ib::Guid> owners = ufm::owners(whole_state(pkey));
    if (!owners.empty()) taken[pkey] = std::move(owners);
  }
  return taken;
}

}  // namespace ibpod::sm::ufm
