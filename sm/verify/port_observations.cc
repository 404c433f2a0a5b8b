#include "sm/verify/port_observations.h"

#include <algorithm>

namespace ibpod::sm::verify {
namespace {

using fabric::Enforcement;
using fabric::Reason;

// Above this size, ports that are absent now are dropped: a node can invent any number of GUIDs.
constexpr size_t kMaxEverSeen = 200'000;

// The table of the switch port if it enforces partitions in both directions, else nullptr.
const ib::PKeyTable* enforcing_switch_table(const probe::ProbeResult& reading) {
  if (!reading.switch_port || !reading.switch_port->inbound || !reading.switch_port->outbound)
    return nullptr;
  const auto* const table = std::get_if<ib::PKeyTable>(&reading.switch_port->table);
  return table == nullptr || table->empty() ? nullptr : table;
}

// The switch enforces the port's partitions if its table has exactly the desired keys.
Enforcement enforcement(const probe::ProbeResult& reading, const DesiredTable& desired) {
  if (!reading.switch_port || !std::holds_alternative<ib::PKeyTable>(reading.switch_port->table))
    return Enforcement::unknown;
  const ib::PKeyTable* const table = enforcing_switch_table(reading);
  if (table == nullptr) return Enforcement::hca;
  const TableDiff diff = compare(*table, desired.anywhere());
  return diff.good() ? Enforcement::leaf : Enforcement::hca;
}

// Returns nothing if the error is not about the port.
std::optional<fabric::Condition> condition_of(const probe::ProbeError& not_read) {
  switch (not_read.failure) {
    case probe::ProbeFailure::unreachable:
      return {{Reason::unreachable, "cannot send packets to the port: " + not_read.text()}};
    case probe::ProbeFailure::timeout:
      return {{Reason::timeout, "the port does not answer"}};
    case probe::ProbeFailure::refused:
    case probe::ProbeFailure::not_permitted:
    case probe::ProbeFailure::malformed:
      return {{Reason::refused, "the port does not return its P_Key table: " + not_read.text()}};
    case probe::ProbeFailure::port_unknown:
    case probe::ProbeFailure::other_port:
      return {{Reason::port_unknown, "no port of the subnet has this GUID"}};
    case probe::ProbeFailure::duplicate_guid:
      return {{Reason::duplicate, "two ports of the subnet have this GUID"}};
    case probe::ProbeFailure::deadline:
    case probe::ProbeFailure::cancelled:
    case probe::ProbeFailure::changed:
      return std::nullopt;
  }
  return std::nullopt;
}

// A foreign key is worse than a missing one.
fabric::Condition condition_of(const TableDiff& diff) {
  const Reason reason = diff.foreign.empty() ? Reason::missing_key : Reason::foreign_key;
  return {reason, "its P_Key table " + diff.text()};
}

TableFinding finding_of(TableDiff diff, uint64_t version, uint64_t swept) {
  TableFinding finding;
  finding.version = version;
  finding.swept = swept;
  finding.diff = std::move(diff);
  if (finding.diff.good()) {
    finding.kind = TableFinding::Kind::good;
  } else {
    finding.kind = TableFinding::Kind::wrong;
    finding.condition = condition_of(finding.diff);
  }
  return finding;
}

// Sets `finding` to wrong if the enforcing switch port lacks keys, or still has those of a former
// binding.
void compare_switch_port(const probe::ProbeResult& reading, const DesiredTable& desired,
                         TableFinding& finding) {
  const ib::PKeyTable* const table = enforcing_switch_table(reading);
  if (table == nullptr) return;
  const TableDiff diff = compare(*table, desired.anywhere());
  if (diff.good()) return;
  finding.kind = TableFinding::Kind::wrong;
  finding.switch_port = true;
  finding.diff = diff;
  finding.condition = {diff.foreign.empty() ? Reason::missing_key : Reason::foreign_key,
                       "the P_Key table of its switch port " + diff.text()};
}

}  // namespace

void PortObservations::record(const probe::ProbeResult& reading, const ForcedVersions& versions,
                              VersionHistory::Time at) {
  Observation& observation = ports_[reading.port];
  if (at < observation.at) return;
  observation = {reading, versions.applied, versions.swept, at};
}

bool PortObservations::of_own_subnet() const {
  return !own_port_ || topology_->find(*own_port_) != nullptr;
}

void PortObservations::record(std::shared_ptr<const fabric::Topology> topology) {
  if (topology == topology_) return;
  topology_ = std::move(topology);
  master_ = topology_->master();
  if (ever_seen_.size() > kMaxEverSeen) ever_seen_.clear();
  for (const fabric::Port& port : topology_->ports()) ever_seen_.insert(port.guid);
  if (!topology_->is_complete()) return;
  std::erase_if(ports_, [&](const auto& port) { return topology_->find(port.first) == nullptr; });
}

const Observation* PortObservations::find_port(ib::Guid port) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? nullptr : &found->second;
}

fabric::EndPort PortObservations::end_port(ib::Guid port) const {
  const fabric::Port* const seen = topology_->find(port);
  fabric::EndPort end_port{.guid = port};
  if (seen != nullptr) {
    end_port.node = seen->node;
    end_port.runs_sm = sm_port() == port;
  }
  return end_port;
}

std::optional<TableFinding> PortObservations::finding_from_port(ib::Guid port, uint64_t changed_in,
                                                                const DesiredTable& desired) const {
  const Observation* const observation = find_port(port);
  if (observation == nullptr) return std::nullopt;
  const auto* const table = std::get_if<ib::PKeyTable>(&observation->result.table);
  if (table == nullptr) {
    const auto status = condition_of(std::get<probe::ProbeError>(observation->result.table));
    if (!status) return std::nullopt;
    TableFinding unseen;
    unseen.kind = TableFinding::Kind::unseen;
    unseen.condition = *status;
    return unseen;
  }
  if (observation->applied < changed_in) return TableFinding{};
  TableFinding finding =
      finding_of(compare(*table, desired), observation->applied, observation->swept);
  finding.proof = fabric::Proof::port;
  finding.enforcement = enforcement(observation->result, desired);
  if (finding.kind == TableFinding::Kind::good)
    compare_switch_port(observation->result, desired, finding);
  finding.drifted = finding.kind == TableFinding::Kind::wrong && observation->swept >= changed_in;
  return finding;
}

std::optional<TableFinding> PortObservations::finding_from_node(ib::Guid port, uint64_t changed_in,
                                                                const DesiredTable& desired) const {
  const NodeObservation* const observation = find_node_report(port);
  if (observation == nullptr || observation->applied < changed_in) return std::nullopt;
  TableFinding finding =
      finding_of(nodes_.diff(port, desired), observation->applied, observation->swept);
  finding.proof = fabric::Proof::node;
  finding.drifted = finding.kind == TableFinding::Kind::wrong && observation->swept >= changed_in;
  return finding;
}

// The port's own table takes precedence; the node's report counts only if the port cannot be read.
TableFinding PortObservations::finding(ib::Guid port, uint64_t changed_in,
                                       const DesiredKeys& desired) const {
  const DesiredTable keys = desired.of(end_port(port));
  const std::optional<TableFinding> seen = finding_from_port(port, changed_in, keys);
  if (!seen) return {};
  // If two ports have this GUID, the node can report only its own.
  if (seen->kind != TableFinding::Kind::unseen || seen->condition.reason == Reason::duplicate)
    return *seen;
  return finding_from_node(port, changed_in, keys).value_or(*seen);
}

}  // namespace ibpod::sm::verify
