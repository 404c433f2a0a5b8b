#include "sm/verify/port_verifier.h"

#include "sm/verify/absence.h"
#include "sm/verify/presence.h"
#include "sm/verify/repair_plan.h"

#include <algorithm>

namespace ibpod::sm::verify {

using fabric::Condition;
using fabric::Reason;

PortVerifier::PortVerifier(Settings settings, const PortRequests& requests)
    : settings_(std::move(settings)),
      requests_(requests),
      engine_(settings_.epoch),
      observations_(settings_.own_port) {}

void PortVerifier::set_desired(DesiredKeys all, DesiredKeys unmanaged) {
  desired_ = std::move(all);
  unmanaged_ = std::move(unmanaged);
}

PortVerdicts PortVerifier::set_port_faults(const std::vector<engine::PortFault>& faults) {
  PortVerdicts verdicts;
  for (const ib::Guid port : faults_.set(faults))
    verdicts.push_back(
        {port, PortVerdict::Kind::condition, faults_.add_to(port, {Reason::waiting, ""})});
  return verdicts;
}

PortVerdicts PortVerifier::set_partition_faults(const std::vector<engine::PartitionFault>& faults,
                                                Time now) {
  PortVerdicts verdicts;
  if (!faults_.set_partitions(faults)) return verdicts;
  for (const ib::Guid port : desired_.named())
    if (partition_fault(port)) verify(port, now, verdicts);
  return verdicts;
}

// Mostly there is none, and a scan asks for each port.
std::optional<std::string> PortVerifier::partition_fault(ib::Guid port) const {
  if (partition_faults().empty()) return std::nullopt;
  return faults_.partition_fault(desired_of(port));
}

// --- readings

void PortVerifier::record(const probe::ProbeBatch& batch, Time now) {
  if (batch.topology) observations_.record(batch.topology);
  const ForcedVersions versions = engine_.at(batch.begun);
  if (batch.full_scan && batch.topology) observations_.set_last_scan(batch.begun);
  for (const probe::ProbeResult& result : batch.ports) {
    if (result.after_repair) repairs_.finished(result.port);
    // A read that began during a repair may have found the old table.
    observations_.record(result, versions, result.after_repair ? now : batch.begun);
  }
}

PortVerdicts PortVerifier::verdicts_of(const probe::ProbeBatch& batch, Time now) {
  PortVerdicts verdicts;
  for (const probe::ProbeResult& result : batch.ports) verify(result.port, now, verdicts);
  if (!batch.full_scan) return verdicts;
  observations_.forget_nodes(now - settings_.node_report_lifetime);
  verify_absent_ports(now, verdicts);
  if (observations_.topology().is_complete()) repairs_.forget_absent(observations_.topology());
  return verdicts;
}

// Ports that a partition names and the scan has not found.
void PortVerifier::verify_absent_ports(Time now, PortVerdicts& verdicts) {
  const fabric::Topology& topology = observations_.topology();
  const probe::ProbeError error{topology.is_complete() ? probe::ProbeFailure::port_unknown
                                                       : probe::ProbeFailure::timeout};
  const ForcedVersions present{engine_.applied(), engine_.swept()};
  for (const ib::Guid port : desired_.named()) {
    if (topology.find(port) != nullptr) continue;
    observations_.record({.port = port, .table = error}, present, now);
    verify(port, now, verdicts);
  }
}

Result<PortVerdicts> PortVerifier::record_report(const std::string& node, ib::Guid port,
                                                 const ib::PKeyTable& table, std::string_view stamp,
                                                 size_t max_entries, Time now) {
  const ForcedVersions versions = engine_.at(stamp);
  TRY(observations_.record(node, port, {table, versions.applied, versions.swept, now},
                           max_entries));
  PortVerdicts verdicts;
  verify(port, now, verdicts);
  return verdicts;
}

// --- verdicts

// The table is right, and yet a sweep may still write an older version of it.
bool PortVerifier::may_get_keys_back(ib::Guid port, const TableFinding& finding) const {
  if (faults_.not_removed(port)) return true;
  return !engine_.capabilities().follows_sweeps && finding.swept < requests_.changed_in(port);
}

void PortVerifier::verify(ib::Guid port, Time now, PortVerdicts& verdicts) {
  using Kind = PortVerdict::Kind;
  if (const std::string fault = wrong_subnet(observations_); !fault.empty())
    return verdicts.push_back({port, Kind::condition, {Reason::unreachable, fault}});
  // A table that is being repaired proves nothing.
  if (!engine_.tables_prove_something() || repairs_.under_way(port)) return;
  const TableFinding finding =
      observations_.finding(port, std::max<uint64_t>(requests_.changed_in(port), 1), desired_);
  switch (finding.kind) {
    case TableFinding::Kind::nothing:
      return;
    case TableFinding::Kind::good:
      return verify_good(port, finding, verdicts);
    case TableFinding::Kind::wrong:
      // A running sweep may still write it.
      if (!finding.drifted) return;
      verdicts.push_back({port, Kind::condition, faults_.add_to(port, finding.condition)});
      return plan_repair(port, finding, now, verdicts);
    case TableFinding::Kind::unseen:
      repairs_.drop(port);
      return verify_unseen(port, finding.condition, verdicts);
  }
}

// A right table is not enough: its keys may be those of another client's partition.
void PortVerifier::verify_good(ib::Guid port, const TableFinding& finding, PortVerdicts& verdicts) {
  using Kind = PortVerdict::Kind;
  repairs_.settle(port);
  const bool is_final = !may_get_keys_back(port, finding);
  const std::optional<std::string> fault = partition_fault(port);
  if (!fault)
    return verdicts.push_back({port,
                               is_final ? Kind::verified : Kind::present,
                               {},
                               finding.version,
                               finding.proof,
                               finding.enforcement});
  if (is_final) verdicts.push_back({port, Kind::clean, {}, finding.version, finding.proof});
  verdicts.push_back(
      {port, Kind::condition, {Reason::foreign_key, faults_.text(port).value_or(*fault)}});
}

void PortVerifier::verify_unseen(ib::Guid port, const Condition& condition,
                                 PortVerdicts& verdicts) {
  using Kind = PortVerdict::Kind;
  const AbsenceSources sources{observations_, requests_, engine_};
  const Absence absence = faults_.not_removed(port)
                              ? Absence::nothing
                              : classify_absence(port, condition.reason, sources);
  if (absence == Absence::needs_no_proof && !faults_.not_added(port))
    return verdicts.push_back({port, Kind::verified, {}, engine_.swept()});
  verdicts.push_back(
      {port, Kind::condition, faults_.add_to(port, explain_absence(port, condition, sources))});
  if (absence == Absence::holds_no_key)
    verdicts.push_back({port, Kind::clean, {}, engine_.swept(), fabric::Proof::port});
  else if (absence == Absence::holds_none_new)
    verdicts.push_back({port, Kind::absent, {}, engine_.swept()});
}

// --- repairs

// Tables of another subnet manager or another subnet are never repaired.
void PortVerifier::plan_repair(ib::Guid port, const TableFinding& finding, Time now,
                               PortVerdicts& verdicts) {
  if (!engine_.may_repair() || !observations_.of_own_subnet()) return repairs_.drop(port);
  const Observation* const observation = observations_.find_port(port);
  if (observation == nullptr || !repairs_.may_plan(port, now)) return;
  const ib::PKeyTable* const table = wrong_table(*observation, finding);
  if (table == nullptr) return;
  const Result<std::vector<probe::Repair>> repairs =
      plan_repairs(port, *table, finding, desired_of(port));
  if (!repairs)
    return verdicts.push_back(
        {port, PortVerdict::Kind::condition, {Reason::capacity, repairs.error().text()}});
  // A running sweep will write the adapter's initial table.
  if (!awaits_sm(observations_.topology().find(port), *table) &&
      repairs_.mark_reported(port, finding.diff))
    verdicts.push_back({port, PortVerdict::Kind::drifted, finding.condition});
  repairs_.plan(port, requests_.changed_in(port), *repairs, now);
}

std::vector<probe::Repair> PortVerifier::take_repairs() {
  return repairs_.take([this](ib::Guid port) { return requests_.changed_in(port); });
}

}  // namespace ibpod::sm::verify
