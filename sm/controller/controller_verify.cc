// Verification: events of the engine, probed tables, repairs and reports of nodes.
#include "sm/controller/controller.h"

#include <algorithm>

namespace ibpod::sm::controller {
namespace {

using fabric::Reason;

// The reason why no change can be applied; Reason::none: changes can.
fabric::Condition engine_fault_of(const opensm::EngineStatus& engine) {
  const auto because = [&](Reason reason) {
    return fabric::Condition{reason, "the subnet manager is " +
                                         std::string(opensm::name(engine.health)) +
                                         (engine.trouble.empty() ? "" : ": " + engine.trouble)};
  };
  switch (engine.health) {
    case opensm::Health::starting:
    case opensm::Health::serving:
      return {};
    case opensm::Health::gone:
    case opensm::Health::not_master:
      return because(Reason::no_master);
    case opensm::Health::other_file:
    case opensm::Health::failed_open:
    case opensm::Health::refused:
    case opensm::Health::stuck:
      return because(Reason::misconfigured);
  }
  return {};
}

// Events after which it is not known which partitions the tables have.
uint64_t losses_in(const opensm::EngineStatus& engine) {
  return engine.violations + engine.fail_opens + engine.losses;
}

}  // namespace

// --- the engine

// The clock is read after the status: a table that was read earlier may be of an older version.
void Controller::engine_changed() {
  const opensm::EngineStatus status = deps_.subnet_manager.status();
  const verify::VersionHistory::Time now = deps_.clock();
  if (status.placed < applied_.newest() || status.swept < swept_.newest()) ++engine_rollbacks_;
  const uint64_t generation = losses_in(status) + status.edits + engine_rollbacks_;
  applied_.reset(generation);
  swept_.reset(generation);
  if (losses_in(status) > engine_losses_) {
    engine_losses_ = losses_in(status);
    deps_.registry.invalidate_verified(
        {Reason::misconfigured,
         "the subnet manager may have used other partitions: the port must be verified again"},
        now_);
  }
  if (status.swept > swept_.newest()) deps_.prober.swept();
  // Only now are all tables those of this subnet manager; earlier readings may be of another.
  if (status.swept > 0 && swept_.newest() == 0) deps_.prober.rescan();
  applied_.record(status.placed, now);
  swept_.record(status.swept, now);
  // A process that has just started may end at once: the fault is over when it serves.
  if (status.health != opensm::Health::starting)
    deps_.telemetry.report_condition("subnet manager", status.trouble);
  deps_.telemetry.report_condition("memory limit", status.shared_cgroup);
  deps_.telemetry.report_condition("next start of the subnet manager", status.start_refused);
  set_engine_fault(engine_fault_of(status));
  take_manual_partitions();
  if (!refused_.empty()) declare_at_ = now_.steady;  // the engine may have rejected them
}

void Controller::set_engine_fault(fabric::Condition now) {
  if (now == engine_fault_) return;
  engine_fault_ = std::move(now);
  const fabric::Condition condition =
      engine_fault_.reason == Reason::none ? fabric::Condition{Reason::waiting, ""} : engine_fault_;
  const std::set<ib::Guid> unsettled = deps_.registry.unsettled();
  for (const ib::Guid port : unsettled) deps_.registry.set_condition(port, condition, now_);
}

void Controller::take_manual_partitions() {
  std::vector<fabric::PartitionDefinition> now = deps_.subnet_manager.manual_partitions();
  if (now == manual_partitions_) return;
  manual_partitions_ = std::move(now);
  reserve_pkeys();
  if (partitions_) update_desired_keys();
}

// --- ports

void Controller::probed(const probe::ProbeBatch& readings) {
  if (readings.topology) observations_.record(readings.topology);
  const uint64_t placed = applied_.at(readings.begun);
  const uint64_t swept = swept_.at(readings.begun);
  if (readings.full_scan && readings.topology) last_scan_began_ = readings.begun;
  if (readings.topology) note_seen_ports();
  for (const probe::ProbeResult& reading : readings.ports) {
    if (reading.after_repair) end_repair(reading);
    // A read that began during a repair may have found the table of before the repair.
    const verify::VersionHistory::Time at = reading.after_repair ? now_.steady : readings.begun;
    observations_.record(reading, placed, swept, at);
  }
  for (const probe::ProbeResult& reading : readings.ports) verify_port(reading.port);
  if (readings.full_scan)
    verify_scan(readings);
  else
    deps_.telemetry.read(readings.packets);
}

void Controller::verify_scan(const probe::ProbeBatch& readings) {
  observations_.forget_nodes(now_.steady - settings_.node_report_lifetime);
  std::erase_if(requested_guid_released_,
                [&](const auto& one) { return one.second < last_scan_began_; });
  verify_absent();
  if (observations_.topology().is_complete()) repairs_.forget_absent(observations_.topology());
  telemetry::PortCounts counts;
  counts.ports = observations_.topology().ports().size();
  for (const auto& [port, observation] : observations_.ports()) {
    const verify::TableFinding finding =
        observations_.finding(port, deps_.registry.changed_in(port), desired_keys_);
    counts.missing += finding.diff.missing.empty() ? 0 : 1;
    counts.foreign += finding.diff.foreign.empty() ? 0 : 1;
    counts.unseen += finding.kind == verify::TableFinding::Kind::unseen ? 1 : 0;
  }
  deps_.telemetry.scanned(counts, readings.packets, now_.steady - readings.begun);
  const bool wrong = observations_.topology().is_complete() && !observations_.of_own_subnet();
  deps_.telemetry.report_condition("subnet", wrong ? wrong_subnet() : "");
}

// Ports that a partition names and the scan has not found.
void Controller::verify_absent() {
  const bool complete = observations_.topology().is_complete();
  for (const ib::Guid port : desired_keys_.named()) {
    if (observations_.topology().find(port) != nullptr) continue;
    const probe::ProbeResult reading{
        .port = port,
        .table = probe::ProbeError{complete ? probe::ProbeFailure::port_unknown
                                            : probe::ProbeFailure::timeout}};
    observations_.record(reading, applied_.newest(), swept_.newest(), now_.steady);
    verify_port(port);
  }
}

// True if a complete scan of our own subnet has found no port with this GUID.
bool Controller::is_absent(ib::Guid port) const {
  const fabric::Topology& topology = observations_.topology();
  return topology.is_complete() && observations_.of_own_subnet() && topology.find(port) == nullptr;
}

// For a node that is being forgotten: a port that is absent from the subnet holds no key. A virtual
// port is never on the subnet and may still exist, so its PF must be absent, too.
bool Controller::may_be_released(ib::Guid port) const {
  const fabric::Topology& topology = observations_.topology();
  if (!is_absent(port)) return false;
  if (swept_.newest() < deps_.registry.changed_in(port)) return false;
  const auto bindings = deps_.registry.bindings_on(port);
  return !bindings.empty() &&
         std::all_of(bindings.begin(), bindings.end(), [&](const fabric::Binding* binding) {
           const auto node = deps_.registry.node(binding->attachment.node);
           const bool pf_gone =
               binding->kind == fabric::Kind::child ||
               (binding->pf_guid.none() ? !has_virtual_ports() : !topology.find(binding->pf_guid));
           return node && node->forgetting && (pf_gone || is_visible_while_bound(*binding));
         });
}

void Controller::note_ended() {
  for (const ib::Guid guid : deps_.registry.take_ended())
    requested_guid_released_[guid] = now_.steady;
}

// A pod-requested GUID that no port has: the VF never got it, or has its own GUID back, as after a
// reboot. No observation could ever prove that its keys have been removed.
bool Controller::is_abandoned(ib::Guid port) const {
  if (!is_absent(port) || observations_.find_node_report(port) != nullptr) return false;
  if (swept_.at(last_scan_began_) < deps_.registry.changed_in(port)) return false;
  const auto bindings = deps_.registry.bindings_on(port);
  return !bindings.empty() &&
         std::all_of(bindings.begin(), bindings.end(), [&](const fabric::Binding* binding) {
           return binding->guid_requested && binding->state == fabric::BindingState::releasing &&
                  is_visible_while_bound(*binding);
         });
}

// A pod-requested GUID may still be active on the old VF after its binding is released, or on a
// port that is not known here. Do not grant it until a full scan has confirmed that no port uses
// it.
Status Controller::check_guid_unused(const fabricapi::BindRequest& request) {
  note_ended();
  // The registry checks the owner of a bound GUID.
  if (!request.guid_requested || !deps_.registry.bindings_on(request.guid).empty()) return ok();
  const auto ended = requested_guid_released_.find(request.guid);
  const verify::VersionHistory::Time since =
      ended == requested_guid_released_.end() ? verify::VersionHistory::Time{} : ended->second;
  if (last_scan_began_ > since && is_absent(request.guid)) return ok();
  return Error(Code::busy, "GUID " + request.guid.text() +
                               " may still be in use; retry after the next full scan "
                               "(look.scanSeconds)");
}

// Scans find every port that exists. Limits bindings to GUIDs that no scan has ever found: a node
// could invent any number of them. Before the first scan there is no limit.
Status Controller::check_unseen(const fabricapi::BindRequest& request) const {
  const registry::Registry& registry = deps_.registry;
  if (last_scan_began_ == verify::VersionHistory::Time{} || observations_.ever_seen(request.guid))
    return ok();
  if (!registry.bindings_on(request.guid).empty()) return ok();
  const std::string& node = request.attachment.node;
  const std::vector<ib::Guid> ports = registry.ports_of(node);
  const auto unseen = static_cast<size_t>(std::count_if(
      ports.begin(), ports.end(), [&](ib::Guid port) { return !observations_.ever_seen(port); }));
  const size_t most = registry.limits().unseen_of_node;
  if (unseen < most) return ok();
  return Error(Code::busy,
               "unseen port limit of node " + node + " reached (" + std::to_string(most) +
                   "): it has " + std::to_string(unseen) +
                   " bindings on ports that no full scan has found; end pods there, check why "
                   "their ports are not on the subnet, or raise limits.unseenPortsOfNode in "
                   "ibpod-sm's configuration");
}

// The port of a virtual machine that does not run is not on the subnet. With `proof: none` it is
// then enough that the subnet manager has the keys.
bool Controller::counts_without_proof(ib::Guid port, const verify::TableFinding& finding) const {
  if (finding.condition.reason != Reason::port_unknown) return false;
  if (!is_absent(port) || observations_.find_node_report(port) != nullptr) return false;
  const auto bindings = deps_.registry.bindings_on(port);
  return swept_.at(last_scan_began_) >= deps_.registry.changed_in(port) &&
         deps_.registry.needs_no_proof(port) &&
         std::all_of(bindings.begin(), bindings.end(), [&](const fabric::Binding* binding) {
           return is_visible_while_bound(*binding);
         });
}

// A virtual port is never on the subnet, even while it is in use.
bool Controller::is_visible_while_bound(const fabric::Binding& binding) const {
  const fabric::Port* const pf = observations_.topology().find(binding.pf_guid);
  return binding.kind == fabric::Kind::vf && pf != nullptr && !pf->virtualized;
}

// A VF may be missing because it is a virtual port that the subnet manager does not serve, or
// because the port has left the subnet.
fabric::Condition Controller::why_unseen(ib::Guid port, const fabric::Condition& status) const {
  if (status.reason != Reason::port_unknown) return status;
  for (const fabric::Binding* const binding : deps_.registry.bindings_on(port)) {
    const fabric::Port* const pf = observations_.topology().find(binding->pf_guid);
    if (binding->kind != fabric::Kind::vf || pf == nullptr || !pf->virtualized) continue;
    return {Reason::vport, "the VF is a virtual port of " +
                               diagnose::described(observations_.topology(), pf->guid) +
                               ", and this subnet manager does not serve virtual ports; use "
                               "NVIDIA's OpenSM with virt_enabled 2, or UFM"};
  }
  if (observations_.has_disappeared(port))
    return {Reason::port_down, "the port has left the subnet: its link or its node is down"};
  return status;
}

std::string Controller::wrong_subnet() const {
  return "the scanned subnet does not contain the subnet manager's port " +
         settings_.own_port->text() + "; check `look` and `opensm.port`";
}

void Controller::verify_port(ib::Guid port) {
  if (!observations_.of_own_subnet() && observations_.topology().is_complete())
    return deps_.registry.set_condition(port, {Reason::unreachable, wrong_subnet()}, now_);
  // Before the first sweep, and during a repair, tables prove nothing.
  if (swept_.newest() == 0 || repairs_.under_way(port)) return;
  const verify::TableFinding finding = observations_.finding(
      port, std::max<uint64_t>(deps_.registry.changed_in(port), 1), desired_keys_);
  switch (finding.kind) {
    case verify::TableFinding::Kind::nothing:
      return;
    case verify::TableFinding::Kind::good:
      repairs_.settle(port);
      deps_.registry.note_verified(port, finding.version, finding.proof, finding.enforcement, now_);
      return;
    case verify::TableFinding::Kind::wrong:
      // A running sweep may still write it.
      if (!finding.drifted) return;
      deps_.registry.set_condition(port, finding.condition, now_);
      plan_repair(port, finding);
      return;
    case verify::TableFinding::Kind::unseen:
      repairs_.drop(port);
      if (counts_without_proof(port, finding)) {
        deps_.registry.note_verified(port, swept_.newest(), fabric::Proof::none,
                                     fabric::Enforcement::unknown, now_);
        return;
      }
      deps_.registry.set_condition(port, why_unseen(port, finding.condition), now_);
      if (finding.condition.reason == Reason::port_unknown &&
          (may_be_released(port) || is_abandoned(port)))
        deps_.registry.note_clean(port, swept_.newest(), fabric::Proof::port, now_);
      else if (was_never_seen(port))
        deps_.registry.note_never_seen(port, swept_.newest());
      return;
  }
}

// --- repairs

// Tables of another subnet manager or another subnet are never repaired.
bool Controller::may_repair() const {
  const opensm::Health health = deps_.subnet_manager.status().health;
  return deps_.subnet_manager.writes() && observations_.of_own_subnet() &&
         (health == opensm::Health::serving || health == opensm::Health::gone);
}

// The subnet manager moves a port from INIT to ARMED after it has written the table. Until then the
// adapter's initial table is no drift. The state may be older than the table, so the table must
// also look initial.
bool Controller::awaits_sm(ib::Guid port, const ib::PKeyTable& table) const {
  const fabric::Port* const seen = observations_.topology().find(port);
  const auto is_initial = [](ib::PKey key) {
    return key.partition() == 0 || key == ib::kDefaultFull;
  };
  return seen != nullptr && seen->state == ib::PortState::init &&
         std::all_of(table.begin(), table.end(), is_initial);
}

void Controller::plan_repair(ib::Guid port, const verify::TableFinding& finding) {
  if (!may_repair()) return repairs_.drop(port);
  const verify::Observation* const observation = observations_.find_port(port);
  if (observation == nullptr || !repairs_.may_plan(port, now_.steady)) return;
  const probe::TableOrError& read =
      finding.switch_port ? observation->result.switch_port->table : observation->result.table;
  const auto* const table = std::get_if<ib::PKeyTable>(&read);
  if (table == nullptr) return;
  const verify::DesiredTable desired = desired_keys_.of(observations_.end_port(port));
  const Result<ib::PKeyTable> right =
      verify::repaired(*table, finding.switch_port ? desired.anywhere() : desired);
  if (!right) {
    deps_.registry.set_condition(port, {Reason::capacity, right.error().text()}, now_);
    return;
  }
  if (!awaits_sm(port, *table) && repairs_.mark_reported(port, finding.diff))
    deps_.telemetry.drifted(port, finding.condition.text);
  const probe::Repair::Kind kind =
      finding.diff.foreign.empty() ? probe::Repair::Kind::bind : probe::Repair::Kind::revoke;
  const probe::Repair::Table target =
      finding.switch_port ? probe::Repair::Table::switch_port : probe::Repair::Table::own;
  std::vector<probe::Repair> repairs;
  for (const uint16_t block : mad::different_blocks(*table, *right))
    repairs.push_back(
        {kind, port, target, block, mad::block_of(*table, block), mad::block_of(*right, block)});
  repairs_.plan(port, deps_.registry.changed_in(port), repairs, now_.steady);
}

void Controller::end_repair(const probe::ProbeResult& reading) {
  repairs_.finished(reading.port);
  const auto& failure = reading.repair_error;
  deps_.telemetry.repaired(failure ? probe::name(failure->failure) : "written");
  if (failure)
    deps_.telemetry.warning("cannot repair the P_Key table of port " + reading.port.text() + ": " +
                            failure->text());
}

void Controller::start_repairs() {
  std::vector<probe::Repair> repairs =
      repairs_.take([&](ib::Guid port) { return deps_.registry.changed_in(port); });
  if (!repairs.empty()) deps_.prober.repair(std::move(repairs));
}

void Controller::poll_pending() {
  std::set<ib::Guid> ports = deps_.registry.unsettled();
  ports.merge(repairs_.unsettled());
  if (ports == polled_) return;
  polled_ = ports;
  deps_.prober.poll(std::move(ports));
}

// --- nodes

// invalid if there are keys at an index that the port's table does not have. Free entries are
// ignored.
Status Controller::check_reported_table(const fabricapi::ObserveRequest::PortTable& seen) const {
  const fabric::Port* const port = observations_.topology().find(seen.guid);
  if (port == nullptr || port->partition_cap == 0 || seen.table.size() <= port->partition_cap)
    return ok();
  const auto key = std::find_if(seen.table.rbegin(), seen.table.rend(),
                                [](ib::PKey one) { return one.partition() != 0; });
  const auto places = static_cast<size_t>(seen.table.rend() - key);
  if (places <= port->partition_cap) return ok();
  return Error(Code::invalid, "ports.table: port " + seen.guid.text() + " has " +
                                  std::to_string(port->partition_cap) + " entries, got " +
                                  std::to_string(places));
}

// The limit of used entries in all tables that one node reports. A node within its limit of
// memberships never needs as many.
size_t Controller::max_reported_entries() const {
  constexpr size_t kLeast = 64 << 10;
  return std::max(kLeast, 2 * deps_.registry.limits().memberships_of_node);
}

void Controller::observe(const Caller& caller, const fabricapi::ObserveRequest& request,
                         Done<fabricapi::ObserveAnswer> done) {
  if (caller.role == fabricapi::Role::reader ||
      (caller.role == fabricapi::Role::node && caller.node != request.node))
    return done(Error(Code::denied, "permission denied: a node can report only its own ports"));
  for (const auto& seen : request.ports) {
    if (deps_.registry.owner_of(seen.guid, request.node) == registry::PortOwner::other_node)
      return done(Error(Code::denied, "permission denied: port " + seen.guid.text() +
                                          " does not belong to node " + request.node));
    const Status possible = check_reported_table(seen);
    if (!possible) return done(possible.error());
  }
  deps_.registry.note_contact(request.node, now_);
  const size_t middle = std::min(request.stamp.find('/'), request.stamp.size());
  const std::string_view stamp = request.stamp;
  const uint64_t placed = applied_.at(stamp.substr(0, middle));
  const uint64_t swept = middle < stamp.size() ? swept_.at(stamp.substr(middle + 1)) : 0;
  for (const auto& seen : request.ports) {
    if (deps_.registry.owner_of(seen.guid, request.node) != registry::PortOwner::this_node)
      continue;
    const Status taken = observations_.record(
        request.node, seen.guid, {seen.table, placed, swept, now_.steady}, max_reported_entries());
    if (!taken) return done(taken.error());
    verify_port(seen.guid);
  }
  fabricapi::ObserveAnswer answer{applied_.stamp() + "/" + swept_.stamp(), {}};
  for (const ib::Guid port : deps_.registry.unsettled())
    if (deps_.registry.owner_of(port, request.node) == registry::PortOwner::this_node)
      answer.wanted.push_back(port);
  done(std::move(answer));
}

}  // namespace ibpod::sm::controller
