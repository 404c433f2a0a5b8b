#include "sm/verify/port_faults.h"

#include "lib/base/join.h"

#include <utility>

namespace ibpod::sm::verify {

using engine::PortFault;

std::set<ib::Guid> PortFaults::set(const std::vector<PortFault>& faults) {
  std::map<ib::Guid, Texts> before = std::exchange(faults_, {});
  for (const PortFault& fault : faults) add_item(faults_[fault.port][fault.kind], "; ", fault.text);
  std::set<ib::Guid> changed;
  for (const auto& [port, texts] : faults_) {
    const auto known = before.find(port);
    if (known == before.end() || known->second != texts) changed.insert(port);
  }
  for (const auto& [port, texts] : before)
    if (!faults_.contains(port)) changed.insert(port);
  return changed;
}

bool PortFaults::set_partitions(const std::vector<engine::PartitionFault>& faults) {
  const std::map<uint16_t, std::string> before = std::exchange(partitions_, {});
  for (const engine::PartitionFault& fault : faults)
    partitions_[fault.pkey.partition()] = fault.text;
  return partitions_ != before;
}

bool PortFaults::has(ib::Guid port, PortFault::Kind kind) const {
  const auto found = faults_.find(port);
  return found != faults_.end() && found->second.contains(kind);
}

bool PortFaults::not_added(ib::Guid port) const { return has(port, PortFault::Kind::not_added); }

bool PortFaults::not_removed(ib::Guid port) const {
  return has(port, PortFault::Kind::not_removed);
}

std::optional<std::string> PortFaults::text(ib::Guid port) const {
  const auto found = faults_.find(port);
  if (found == faults_.end()) return std::nullopt;
  return join(found->second, "; ", &Texts::value_type::second);
}

std::optional<std::string> PortFaults::partition_fault(const DesiredTable& desired) const {
  for (const ib::PKey key : desired.keys)
    if (const auto found = partitions_.find(key.partition()); found != partitions_.end())
      return found->second;
  return std::nullopt;
}

fabric::Condition PortFaults::add_to(ib::Guid port, fabric::Condition condition) const {
  using fabric::Reason;
  std::optional<std::string> cause = text(port);
  if (!cause) return condition;
  if (condition.reason == Reason::waiting) condition.reason = Reason::misconfigured;
  if (!condition.text.empty()) add_item(*cause, "; ", condition.text);
  condition.text = std::move(*cause);
  return condition;
}

}  // namespace ibpod::sm::verify
