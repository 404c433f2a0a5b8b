#include "sm/ufm/member_faults.h"

#include <algorithm>
#include <set>

namespace ibpod::sm::ufm {
namespace {

using engine::PortFault;

// UFM may show a change late, so it is asked again soon; what it refuses, it refuses again.
BackOff ignored_pauses() { return {Duration(1000), Duration(60'000)}; }
BackOff refused_pauses() { return {Duration(2000), Duration(300'000)}; }

// Enough to find three ports of kMostGuids. After that the search goes on with pauses.
constexpr size_t kMostAtOnce = 64;

PortFault::Kind kind_of(const Step& step) {
  return step.of_class.kind == Step::Kind::addition ? PortFault::Kind::not_added
                                                    : PortFault::Kind::not_removed;
}

std::string refusal_text(const Step& step, const std::string& why) {
  const bool adds = step.of_class.kind == Step::Kind::addition;
  std::string text = std::string("UFM refuses to ") + (adds ? "add" : "remove") +
                     " the port: P_Key " + step.pkey.text();
  if (step.guids.size() > 1)
    text += ", in one call with " + std::to_string(step.guids.size() - 1) + " other ports";
  return text + ": " + why;
}

}  // namespace

MemberFaults::Fault& MemberFaults::fault_of(Kind kind, ib::PKey pkey, ib::Guid guid,
                                            const BackOff& pauses) {
  Fault& fault = faults_[{pkey, kind}].try_emplace(guid, Fault{"", pauses}).first->second;
  fault.until.reset();
  return fault;
}

void MemberFaults::refused(const Step& step, const std::string& why, Time now) {
  const bool is_single = step.guids.size() == 1;
  const bool pauses = is_single || ++refusals_[{step.pkey, kind_of(step)}] > kMostAtOnce;
  for (const ib::Guid guid : step.guids) {
    Fault& fault = fault_of(kind_of(step), step.pkey, guid, refused_pauses());
    fault.text = refusal_text(step, why);
    fault.together = std::max<size_t>(1, step.guids.size() / 2);
    fault.next = pauses ? now + fault.pauses.next() : now;
  }
}

void MemberFaults::ignored(Kind kind, ib::PKey pkey, ib::Guid guid, bool in_place,
                           const std::string& text, Time now) {
  Fault& fault = fault_of(kind, pkey, guid, ignored_pauses());
  fault.text = text;
  fault.remove_first = in_place;
  fault.next = now + fault.pauses.next();
  if (!fault.ignored_since) fault.ignored_since = now;
}

void MemberFaults::settle(Kind kind, ib::PKey pkey, ib::Guid guid, std::optional<Time> until) {
  const auto faults = faults_.find({pkey, kind});
  if (faults == faults_.end()) return;
  const auto fault = faults->second.find(guid);
  if (fault == faults->second.end()) return;
  if (until) {
    fault->second = {"UFM has removed the port from P_Key " + pkey.text() +
                         "; its subnet manager may still have to write the port's table",
                     ignored_pauses()};
    fault->second.until = until;
  } else {
    faults->second.erase(fault);
    expire(Time::min());
  }
}

void MemberFaults::expire(Time now) {
  for (auto& [key, faults] : faults_)
    std::erase_if(faults, [now](const auto& entry) {
      return entry.second.until && *entry.second.until <= now;
    });
  std::erase_if(faults_, [](const auto& entry) { return entry.second.empty(); });
  std::erase_if(refusals_, [this](const auto& entry) { return !faults_.contains(entry.first); });
}

const MemberFaults::Faults* MemberFaults::find(Kind kind, ib::PKey pkey) const {
  const auto faults = faults_.find({pkey, kind});
  return faults == faults_.end() ? nullptr : &faults->second;
}

bool MemberFaults::has(Kind kind, ib::PKey pkey, ib::Guid guid) const {
  const Faults* const faults = find(kind, pkey);
  if (faults == nullptr) return false;
  const auto fault = faults->find(guid);
  return fault != faults->end() && !fault->second.until;
}

std::map<ib::Guid, Retry> MemberFaults::retries(Kind kind, ib::PKey pkey, Time now) const {
  std::map<ib::Guid, Retry> retries;
  if (const Faults* const faults = find(kind, pkey); faults != nullptr)
    for (const auto& [guid, fault] : *faults)
      retries[guid] = {fault.next > now, fault.together, fault.remove_first};
  return retries;
}

Retries MemberFaults::retries(ib::PKey pkey, Time now) const {
  return {retries(Kind::not_added, pkey, now), retries(Kind::not_removed, pkey, now)};
}

std::vector<ib::Guid> MemberFaults::members(Kind kind, ib::PKey pkey) const {
  std::vector<ib::Guid> members;
  if (const Faults* const faults = find(kind, pkey); faults != nullptr)
    for (const auto& [guid, fault] : *faults)
      if (!fault.until) members.push_back(guid);
  return members;
}

std::set<ib::PKey> MemberFaults::pkeys() const {
  std::set<ib::PKey> pkeys;
  for (const auto& [key, faults] : faults_) pkeys.insert(key.first);
  return pkeys;
}

std::optional<MemberFaults::Time> MemberFaults::due(Time now) const {
  std::optional<Time> first;
  for (const auto& [key, faults] : faults_)
    for (const auto& [guid, fault] : faults) {
      const Time time = fault.until.value_or(fault.next);
      if (time > now && (!first || time < *first)) first = time;
    }
  return first;
}

bool MemberFaults::ignores_all(Time since) const {
  std::set<ib::Guid> ports;
  for (const auto& [key, faults] : faults_)
    for (const auto& [guid, fault] : faults)
      if (fault.ignored_since && *fault.ignored_since <= since) ports.insert(guid);
  return ports.size() > 1;
}

std::vector<PortFault> MemberFaults::faults() const {
  std::vector<PortFault> all;
  for (const auto& [key, faults] : faults_)
    for (const auto& [guid, fault] : faults) all.push_back({guid, key.second, fault.text});
  return all;
}

}  // namespace ibpod::sm::ufm
