#include "sm/controller/fabric_reconciler.h"

#include "sm/controller/engine_fault.h"
#include "sm/verify/port_counts.h"
#include "sm/verify/presence.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::controller {
namespace {

using fabric::Reason;

// The limit of used entries in all tables that one node reports. A node within its limit of
// memberships needs fewer.
size_t max_reported_entries(const state::RegistryLimits& limits) {
  constexpr size_t kLeast = 64 << 10;
  return std::max(kLeast, 2 * limits.memberships_of_node);
}

}  // namespace

FabricReconciler::FabricReconciler(Deps deps, verify::PortVerifier::Settings settings)
    : deps_(std::move(deps)),
      own_port_(settings.own_port),
      verifier_(std::move(settings), deps_.registry.bindings),
      published_(deps_.subnet_manager),
      vf_ports_(deps_.subnet_manager, deps_.registry),
      change_times_([this](std::string_view reached, std::chrono::duration<double> took) {
        deps_.telemetry.change_reached(reached, took);
      }) {
  reserve_manual_pkeys();
}

void FabricReconciler::reserve_manual_pkeys() {
  deps_.registry.partitions.reserve_pkeys(published_.manual_pkeys());
}

// The clock is read after the status: see EngineProgress::update().
void FabricReconciler::engine_changed(state::Now now) {
  const engine::EngineStatus status = deps_.subnet_manager.status();
  const verify::EngineProgress::Change change =
      verifier_.engine_changed(status, deps_.subnet_manager.capabilities(), deps_.clock());
  change_times_.reached(status.placed, status.swept, now.steady);
  if (change.tables_lost)
    deps_.registry.bindings.invalidate_verified(
        {Reason::misconfigured,
         "the subnet manager may have used other partitions: the port must be verified again"},
        now);
  if (change.has_swept) deps_.prober.swept();
  if (change.first_sweep) deps_.prober.rescan();
  // A process that has just started may end at once: the fault is over only when it serves.
  if (status.health != engine::Health::starting)
    deps_.telemetry.report_condition("subnet manager", status.trouble);
  deps_.telemetry.report_condition("memory limit", status.shared_cgroup);
  deps_.telemetry.report_condition("next start of the subnet manager", status.start_refused);
  set_engine_fault(controller::engine_fault(status), now);
  apply(verifier_.set_port_faults(deps_.subnet_manager.port_faults()), now);
  apply(verifier_.set_partition_faults(deps_.subnet_manager.partition_faults(), now.steady), now);
  if (!published_.update_manual()) return;
  reserve_manual_pkeys();
  if (published_.version() != 0)
    verifier_.set_desired(published_.desired(), published_.unmanaged());
}

void FabricReconciler::set_engine_fault(fabric::Condition fault, state::Now now) {
  if (fault == engine_fault_) return;
  engine_fault_ = std::move(fault);
  const fabric::Condition condition =
      engine_fault_.reason == Reason::none ? fabric::Condition{Reason::waiting, ""} : engine_fault_;
  const std::set<ib::Guid> unsettled = deps_.registry.bindings.unsettled();
  for (const ib::Guid port : unsettled) deps_.registry.bindings.set_condition(port, condition, now);
}

void FabricReconciler::note_seen_ports() {
  deps_.registry.partitions.note_seen(
      [this](ib::Guid port) { return verify::may_be_present(verifier_.observations(), port); });
}

void FabricReconciler::probed(const probe::ProbeBatch& batch, state::Now now) {
  verifier_.set_engine_health(deps_.subnet_manager.status().health);
  verifier_.record(batch, now.steady);
  if (batch.topology) note_seen_ports();
  report_repairs(batch);
  apply(verifier_.verdicts_of(batch, now.steady), now);
  if (!batch.full_scan) return deps_.telemetry.read(batch.packets);
  const verify::PortObservations& observations = verifier_.observations();
  if (observations.last_scan()) deps_.registry.bindings.note_full_scan(*observations.last_scan());
  deps_.telemetry.scanned(
      verify::count_ports(observations, deps_.registry.bindings, verifier_.desired()),
      batch.packets, now.steady - batch.begun);
  deps_.telemetry.report_condition("subnet", verify::wrong_subnet(observations));
}

void FabricReconciler::report_repairs(const probe::ProbeBatch& batch) {
  for (const probe::ProbeResult& result : batch.ports) {
    if (!result.after_repair) continue;
    const auto& failure = result.repair_error;
    deps_.telemetry.repaired(failure ? probe::name(failure->failure) : "written");
    if (failure)
      deps_.telemetry.warning("cannot repair the P_Key table of port " + result.port.text() + ": " +
                              failure->text());
  }
}

void FabricReconciler::apply(const verify::PortVerdicts& verdicts, state::Now now) {
  for (const verify::PortVerdict& verdict : verdicts) apply(verdict, now);
}

void FabricReconciler::apply(const verify::PortVerdict& verdict, state::Now now) {
  using Kind = verify::PortVerdict::Kind;
  switch (verdict.kind) {
    case Kind::condition:
      return deps_.registry.bindings.set_condition(verdict.port, verdict.condition, now);
    case Kind::verified:
      deps_.registry.bindings.note_verified(verdict.port, verdict.version, verdict.proof,
                                            verdict.enforcement, now);
      return;
    case Kind::present:
      deps_.registry.bindings.note_present(verdict.port, verdict.version, verdict.proof,
                                           verdict.enforcement, now);
      return;
    case Kind::clean:
      deps_.registry.bindings.note_clean(verdict.port, verdict.version, verdict.proof, now);
      return;
    case Kind::absent:
      return deps_.registry.partitions.note_never_seen(verdict.port, verdict.version);
    case Kind::drifted:
      return deps_.telemetry.drifted(verdict.port, verdict.condition.text);
  }
}

Result<v1::ObserveResponse> FabricReconciler::observe(const fabricapi::ObserveRequest& request,
                                                      state::Now now) {
  const auto owner = [&](ib::Guid port) {
    return deps_.registry.nodes.owner_of(port, request.node);
  };
  for (const auto& seen : request.ports) {
    if (owner(seen.guid) == bindings::PortOwner::other_node)
      return Error(Code::denied, "permission denied: port " + seen.guid.text() +
                                     " does not belong to node " + request.node);
    TRY(verify::check_report(verifier_.observations().topology(), seen.guid, seen.table));
  }
  deps_.registry.nodes.note_contact(request.node, now);
  for (const auto& seen : request.ports) {
    if (owner(seen.guid) != bindings::PortOwner::this_node) continue;
    const verify::PortVerdicts verdicts = TRY(verifier_.record_report(
        request.node, seen.guid, seen.table, request.stamp,
        max_reported_entries(deps_.registry.journal.policy().limits), now.steady));
    apply(verdicts, now);
  }
  v1::ObserveResponse answer;
  answer.set_stamp(verifier_.engine().stamp());
  for (const ib::Guid port : deps_.registry.bindings.unsettled())
    if (owner(port) == bindings::PortOwner::this_node) answer.add_wanted(port.value());
  return answer;
}

void FabricReconciler::publish(state::Now now) {
  if (published_.publish(deps_.registry.journal.version(),
                         deps_.registry.partitions.view().definitions())) {
    verifier_.set_desired(published_.desired(), published_.unmanaged());
    change_times_.requested(published_.version(), now.steady);
  }
  vf_ports_.publish();
  deps_.registry.bindings.note_written(verifier_.engine().applied(), now);
  deps_.registry.partitions.note_swept(verifier_.engine().swept());
  deps_.registry.partitions.set_engine_faults(engine_fault_, verifier_.partition_faults());
  deps_.registry.partitions.note_deleted(now);
}

void FabricReconciler::repair_and_poll() {
  std::vector<probe::Repair> repairs = verifier_.take_repairs();
  if (!repairs.empty()) deps_.prober.repair(std::move(repairs));
  std::set<ib::Guid> ports = deps_.registry.bindings.unsettled();
  ports.merge(verifier_.unsettled());
  if (ports == polled_) return;
  polled_ = ports;
  deps_.prober.poll(std::move(ports));
}

bindings::TableCapacity FabricReconciler::table_capacity(ib::Guid port) const {
  bindings::TableCapacity capacity;
  const fabric::Port* const seen = verifier_.observations().topology().find(port);
  if (seen == nullptr) return capacity;
  capacity.of_port = seen->partition_cap;
  if (seen->switch_port && seen->switch_port->enforcement)
    capacity.of_switch_port = seen->switch_port->enforcement->partition_cap;
  return capacity;
}

bindings::PortFacts FabricReconciler::facts_of(const fabricapi::BindRequest& request) const {
  const verify::PortObservations& observations = verifier_.observations();
  const verify::DesiredTable unmanaged = verifier_.unmanaged_keys(request.guid);
  bindings::PortFacts facts;
  facts.capacity = table_capacity(request.guid);
  facts.capacity.taken = unmanaged.keys.size();
  facts.index0 = {.is_sm_port = request.guid == own_port_, .key = unmanaged.index0};
  if (deps_.subnet_manager.capabilities().manual_section)
    facts.manual_bytes = published_.manual_bytes();
  if (!observations.last_scan()) return facts;
  if (verify::is_absent(observations, request.guid)) facts.absent_at = observations.last_scan();
  facts.never_seen = !observations.ever_seen(request.guid);
  facts.never_seen_of_node = [this, node = request.attachment.node] {
    const std::vector<ib::Guid> ports = deps_.registry.bindings.ports_of(node);
    return static_cast<size_t>(std::count_if(ports.begin(), ports.end(), [this](ib::Guid port) {
      return !verifier_.observations().ever_seen(port);
    }));
  };
  return facts;
}

}  // namespace ibpod::sm::controller
