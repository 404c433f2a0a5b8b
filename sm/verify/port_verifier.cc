#include "sm/verify/port_verifier.h"

#include "lib/base/join.h"

#include <algorithm>

namespace ibpod::sm::verify {
namespace {

using fabric::Condition;
using fabric::Reason;

// The number of events after which the partitions in the tables are unknown.
uint64_t losses_in(const engine::EngineStatus& engine) {
  return engine.violations + engine.fail_opens + engine.losses;
}

bool holds(const probe::TableOrError& read, ib::PKey pkey) {
  const auto* const table = std::get_if<ib::PKeyTable>(&read);
  return table != nullptr && std::any_of(table->begin(), table->end(),
                                         [&](ib::PKey key) { return key.same_partition(pkey); });
}

}  // namespace

// The conclusion from a port's absence from the subnet.
enum class PortVerifier::Absence {
  nothing,
  needs_no_proof,  // with `proof: none` it is enough that the subnet manager has the keys
  holds_no_key,    // its released bindings can end
  holds_none_new,  // keys that it was given since a scan last found it have never reached it
};

PortVerifier::PortVerifier(Settings settings, const PortRequests& requests)
    : settings_(std::move(settings)),
      requests_(requests),
      applied_(settings_.epoch),
      swept_(settings_.epoch),
      observations_(settings_.own_port) {}

void PortVerifier::set_desired(DesiredKeys all, DesiredKeys unmanaged) {
  desired_ = std::move(all);
  unmanaged_ = std::move(unmanaged);
}

DesiredTable PortVerifier::unmanaged_keys(ib::Guid port) const {
  return unmanaged_.of(observations_.end_port(port));
}

PortVerifier::EngineChange PortVerifier::engine_changed(const engine::EngineStatus& status,
                                                        const engine::Capabilities& capabilities,
                                                        Time now) {
  EngineChange change;
  engine_.capabilities = capabilities;
  engine_.health = status.health;
  if (status.placed < applied_.newest() || status.swept < swept_.newest()) ++engine_.rollbacks;
  const uint64_t generation = losses_in(status) + status.edits + engine_.rollbacks;
  applied_.reset(generation);
  swept_.reset(generation);
  change.tables_lost = losses_in(status) > engine_.losses;
  engine_.losses = std::max(engine_.losses, losses_in(status));
  change.has_swept = status.swept > swept_.newest();
  // Before the first sweep, tables may be another subnet manager's.
  change.first_sweep = status.swept > 0 && swept_.newest() == 0;
  applied_.record(status.placed, now);
  swept_.record(status.swept, now);
  return change;
}

PortVerdicts PortVerifier::set_port_faults(const std::vector<engine::PortFault>& faults) {
  PortVerdicts verdicts;
  for (const ib::Guid port : engine_.faults.set(faults))
    verdicts.push_back(
        {port, PortVerdict::Kind::condition, with_fault(port, {Reason::waiting, ""})});
  return verdicts;
}

// The condition with the text of the port's faults, which are the cause, before its own.
Condition PortVerifier::with_fault(ib::Guid port, Condition condition) const {
  std::optional<std::string> text = engine_.faults.text(port);
  if (!text) return condition;
  if (condition.reason == Reason::waiting) condition.reason = Reason::misconfigured;
  if (!condition.text.empty()) add_item(*text, "; ", condition.text);
  condition.text = std::move(*text);
  return condition;
}

// --- readings

void PortVerifier::record(const probe::ProbeBatch& batch, Time now) {
  if (batch.topology) observations_.record(batch.topology);
  const uint64_t applied = applied_.at(batch.begun);
  const uint64_t swept = swept_.at(batch.begun);
  if (batch.full_scan && batch.topology) last_scan_ = batch.begun;
  for (const probe::ProbeResult& result : batch.ports) {
    if (result.after_repair) repairs_.finished(result.port);
    // A read that began during a repair may have found the old table.
    observations_.record(result, applied, swept, result.after_repair ? now : batch.begun);
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
  for (const ib::Guid port : desired_.named()) {
    if (topology.find(port) != nullptr) continue;
    observations_.record({.port = port, .table = error}, applied_.newest(), swept_.newest(), now);
    verify(port, now, verdicts);
  }
}

PortCounts PortVerifier::counts() const {
  PortCounts counts;
  counts.ports = observations_.topology().ports().size();
  for (const auto& [port, observation] : observations_.ports()) {
    const TableFinding finding = observations_.finding(port, requests_.changed_in(port), desired_);
    counts.missing += finding.diff.missing.empty() ? 0 : 1;
    counts.foreign += finding.diff.foreign.empty() ? 0 : 1;
    counts.unseen += finding.kind == TableFinding::Kind::unseen ? 1 : 0;
  }
  return counts;
}

// Free entries are ignored.
Status PortVerifier::check_report(ib::Guid port, const ib::PKeyTable& table) const {
  const fabric::Port* const seen = observations_.topology().find(port);
  if (seen == nullptr || seen->partition_cap == 0 || table.size() <= seen->partition_cap)
    return ok();
  const auto last =
      std::find_if(table.rbegin(), table.rend(), [](ib::PKey key) { return key.partition() != 0; });
  const auto entries = static_cast<size_t>(table.rend() - last);
  if (entries <= seen->partition_cap) return ok();
  return Error(Code::invalid, "ports.table: port " + port.text() + " has " +
                                  std::to_string(seen->partition_cap) + " entries, got " +
                                  std::to_string(entries));
}

Result<PortVerdicts> PortVerifier::record_report(const std::string& node, ib::Guid port,
                                                 const ib::PKeyTable& table, std::string_view stamp,
                                                 size_t max_entries, Time now) {
  const size_t middle = std::min(stamp.find('/'), stamp.size());
  const uint64_t applied = applied_.at(stamp.substr(0, middle));
  const uint64_t swept = middle < stamp.size() ? swept_.at(stamp.substr(middle + 1)) : 0;
  TRY(observations_.record(node, port, {table, applied, swept, now}, max_entries));
  PortVerdicts verdicts;
  verify(port, now, verdicts);
  return verdicts;
}

// --- verdicts

// Before anything of ours is in force, tables may be another subnet manager's.
bool PortVerifier::tables_prove_something() const {
  const bool follows = engine_.capabilities.follows_sweeps;
  return (follows ? swept_ : applied_).newest() != 0;
}

// The table is right, and yet a sweep may still write an older version of it.
bool PortVerifier::may_get_keys_back(ib::Guid port, const TableFinding& finding) const {
  if (engine_.faults.not_removed(port)) return true;
  return !engine_.capabilities.follows_sweeps && finding.swept < requests_.changed_in(port);
}

void PortVerifier::verify(ib::Guid port, Time now, PortVerdicts& verdicts) {
  using Kind = PortVerdict::Kind;
  if (const std::string fault = wrong_subnet(); !fault.empty())
    return verdicts.push_back({port, Kind::condition, {Reason::unreachable, fault}});
  // A table that is being repaired proves nothing.
  if (!tables_prove_something() || repairs_.under_way(port)) return;
  const TableFinding finding =
      observations_.finding(port, std::max<uint64_t>(requests_.changed_in(port), 1), desired_);
  switch (finding.kind) {
    case TableFinding::Kind::nothing:
      return;
    case TableFinding::Kind::good:
      repairs_.settle(port);
      return verdicts.push_back({port,
                                 may_get_keys_back(port, finding) ? Kind::present : Kind::verified,
                                 {},
                                 finding.version,
                                 finding.proof,
                                 finding.enforcement});
    case TableFinding::Kind::wrong:
      // A running sweep may still write it.
      if (!finding.drifted) return;
      verdicts.push_back({port, Kind::condition, with_fault(port, finding.condition)});
      return plan_repair(port, finding, now, verdicts);
    case TableFinding::Kind::unseen:
      repairs_.drop(port);
      return verify_unseen(port, finding.condition, verdicts);
  }
}

void PortVerifier::verify_unseen(ib::Guid port, const Condition& condition,
                                 PortVerdicts& verdicts) {
  using Kind = PortVerdict::Kind;
  const Absence absence = engine_.faults.not_removed(port)
                              ? Absence::nothing
                              : classify_absence(port, condition.reason);
  if (absence == Absence::needs_no_proof && !engine_.faults.not_added(port))
    return verdicts.push_back({port, Kind::verified, {}, swept_.newest()});
  verdicts.push_back({port, Kind::condition, with_fault(port, why_unseen(port, condition))});
  if (absence == Absence::holds_no_key)
    verdicts.push_back({port, Kind::clean, {}, swept_.newest(), fabric::Proof::port});
  else if (absence == Absence::holds_none_new)
    verdicts.push_back({port, Kind::absent, {}, swept_.newest()});
}

std::string PortVerifier::wrong_subnet() const {
  if (observations_.of_own_subnet() || !observations_.topology().is_complete()) return "";
  return "the scanned subnet does not contain the subnet manager's port " +
         settings_.own_port->text() + "; check `look` and `opensm.port`";
}

// --- absent ports

bool PortVerifier::is_absent(ib::Guid port) const {
  const fabric::Topology& topology = observations_.topology();
  return topology.is_complete() && observations_.of_own_subnet() && topology.find(port) == nullptr;
}

// Before the first scan, and after an incomplete one, any port may be on the subnet.
bool PortVerifier::may_be_present(ib::Guid port) const {
  return !last_scan_ || !is_absent(port) || observations_.find_node_report(port) != nullptr;
}

bool PortVerifier::is_silent(ib::Guid port) const {
  const Observation* const observation = observations_.find_port(port);
  const bool read =
      observation != nullptr && std::holds_alternative<ib::PKeyTable>(observation->result.table);
  return !read && observations_.find_node_report(port) == nullptr;
}

bool PortVerifier::is_known_to_hold(ib::Guid port, ib::PKey pkey) const {
  const NodeObservation* const report = observations_.find_node_report(port);
  if (report != nullptr && holds(report->table, pkey)) return true;
  const Observation* const observation = observations_.find_port(port);
  if (observation == nullptr) return false;
  const probe::ProbeResult& result = observation->result;
  return holds(result.table, pkey) ||
         (result.switch_port && holds(result.switch_port->table, pkey));
}

PortVerifier::Absence PortVerifier::classify_absence(ib::Guid port, Reason reason) const {
  if (!is_absent(port)) return Absence::nothing;
  const uint64_t changed_in = requests_.changed_in(port);
  const bool scanned_since = last_scan_ && swept_.at(*last_scan_) >= changed_in;
  const auto bindings = requests_.bindings_on(port);
  const auto every = [&](const auto& holds_for) {
    return !bindings.empty() && std::all_of(bindings.begin(), bindings.end(), holds_for);
  };
  const bool reported = observations_.find_node_report(port) != nullptr;
  const bool would_be_seen =
      std::all_of(bindings.begin(), bindings.end(),
                  [&](const fabric::Binding* binding) { return is_visible_while_bound(*binding); });
  if (reason == Reason::port_unknown) {
    // The port of a virtual machine that does not run is not on the subnet.
    if (!reported && scanned_since && would_be_seen && requests_.needs_no_proof(port))
      return Absence::needs_no_proof;
    // The port belongs to a node that is being forgotten.
    if (swept_.newest() >= changed_in &&
        every([&](const fabric::Binding* binding) { return is_released_with_node(*binding); }))
      return Absence::holds_no_key;
    // The port has a GUID requested by a pod: the VF never got it, or has its own GUID back, as
    // after a reboot. No observation could ever prove that its keys have been removed.
    if (!reported && scanned_since && would_be_seen && every([](const fabric::Binding* binding) {
          return binding->guid_requested && binding->state == fabric::BindingState::releasing;
        }))
      return Absence::holds_no_key;
  }
  // OpenSM writes a port's table when it finds the port. If the port was present between two scans,
  // OpenSM corrects its table at its return, before it carries traffic (docs/opensm-notes.md).
  // Virtual ports are never on the subnet.
  if (engine_.capabilities.writes && scanned_since && !has_virtual_ports())
    return Absence::holds_none_new;
  return Absence::nothing;
}

// A virtual port is never on the subnet and may still exist, so its PF must be absent, too.
bool PortVerifier::is_released_with_node(const fabric::Binding& binding) const {
  if (!requests_.is_being_forgotten(binding.attachment.node)) return false;
  if (binding.kind == fabric::Kind::child || is_visible_while_bound(binding)) return true;
  return binding.pf_guid.none() ? !has_virtual_ports()
                                : observations_.topology().find(binding.pf_guid) == nullptr;
}

// A virtual port is never on the subnet, even while it is in use.
bool PortVerifier::is_visible_while_bound(const fabric::Binding& binding) const {
  const fabric::Port* const pf = observations_.topology().find(binding.pf_guid);
  return binding.kind == fabric::Kind::vf && pf != nullptr && !pf->virtualized;
}

bool PortVerifier::has_virtual_ports() const {
  const auto& ports = observations_.topology().ports();
  return std::any_of(ports.begin(), ports.end(),
                     [](const fabric::Port& port) { return port.virtualized; });
}

// A VF may be missing because it is a virtual port, which no scan finds, or because its port has
// left the subnet.
Condition PortVerifier::why_unseen(ib::Guid port, const Condition& condition) const {
  if (condition.reason != Reason::port_unknown) return condition;
  const fabric::Topology& topology = observations_.topology();
  for (const fabric::Binding* const binding : requests_.bindings_on(port)) {
    const fabric::Port* const pf = topology.find(binding->pf_guid);
    if (binding->kind != fabric::Kind::vf || pf == nullptr || !pf->virtualized) continue;
    return {Reason::vport,
            "the VF is a virtual port of " + fabric::described(topology, pf->guid) +
                (engine_.capabilities.serves_vports
                     ? ", whose table only its node can read, and the node has not reported it: "
                       "check its agent (`ibpodctl doctor` on the node)"
                     : ", and this subnet manager does not serve virtual ports; use NVIDIA's "
                       "OpenSM with virt_enabled 2, or UFM")};
  }
  if (observations_.has_disappeared(port))
    return {Reason::port_down, "the port has left the subnet: its link or its node is down"};
  return condition;
}

// --- repairs

// The subnet manager moves a port from INIT to ARMED after it has written the table. Until then the
// adapter's initial table is no drift. The state may be older than the table, so the table must
// look initial, too.
bool PortVerifier::awaits_sm(ib::Guid port, const ib::PKeyTable& table) const {
  const fabric::Port* const seen = observations_.topology().find(port);
  const auto is_initial = [](ib::PKey key) {
    return key.partition() == 0 || key == ib::kDefaultFull;
  };
  return seen != nullptr && seen->state == ib::PortState::init &&
         std::all_of(table.begin(), table.end(), is_initial);
}

// Tables of another subnet manager or another subnet are never repaired.
void PortVerifier::plan_repair(ib::Guid port, const TableFinding& finding, Time now,
                               PortVerdicts& verdicts) {
  using engine::Health;
  const bool may_repair = engine_.capabilities.repairs_tables && observations_.of_own_subnet() &&
                          (engine_.health == Health::serving || engine_.health == Health::gone);
  if (!may_repair) return repairs_.drop(port);
  const Observation* const observation = observations_.find_port(port);
  if (observation == nullptr || !repairs_.may_plan(port, now)) return;
  const probe::TableOrError& read =
      finding.switch_port ? observation->result.switch_port->table : observation->result.table;
  const auto* const table = std::get_if<ib::PKeyTable>(&read);
  if (table == nullptr) return;
  const DesiredTable desired = desired_.of(observations_.end_port(port));
  const Result<ib::PKeyTable> right =
      repaired(*table, finding.switch_port ? desired.anywhere() : desired);
  if (!right)
    return verdicts.push_back(
        {port, PortVerdict::Kind::condition, {Reason::capacity, right.error().text()}});
  if (!awaits_sm(port, *table) && repairs_.mark_reported(port, finding.diff))
    verdicts.push_back({port, PortVerdict::Kind::drifted, finding.condition});
  const probe::Repair::Kind kind =
      finding.diff.foreign.empty() ? probe::Repair::Kind::bind : probe::Repair::Kind::revoke;
  const probe::Repair::Table target =
      finding.switch_port ? probe::Repair::Table::switch_port : probe::Repair::Table::own;
  std::vector<probe::Repair> repairs;
  for (const uint16_t block : mad::different_blocks(*table, *right))
    repairs.push_back(
        {kind, port, target, block, mad::block_of(*table, block), mad::block_of(*right, block)});
  repairs_.plan(port, requests_.changed_in(port), repairs, now);
}

std::vector<probe::Repair> PortVerifier::take_repairs() {
  return repairs_.take([this](ib::Guid port) { return requests_.changed_in(port); });
}

}  // namespace ibpod::sm::verify
