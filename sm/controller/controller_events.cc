// Events: the subnet manager, the prober, and reports of nodes.
#include "sm/controller/controller.h"
#include "sm/controller/engine_fault.h"

#include <algorithm>

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

// The clock is read after the status: see PortVerifier::engine_changed().
void Controller::engine_changed() {
  const opensm::EngineStatus status = deps_.subnet_manager.status();
  const verify::PortVerifier::EngineChange change =
      verifier_.engine_changed(status, deps_.subnet_manager.writes(), deps_.clock());
  if (change.tables_lost)
    deps_.registry.bindings.invalidate_verified(
        {Reason::misconfigured,
         "the subnet manager may have used other partitions: the port must be verified again"},
        now_);
  if (change.has_swept) deps_.prober.swept();
  if (change.first_sweep) deps_.prober.rescan();
  // A process that has just started may end at once: the fault is over only when it serves.
  if (status.health != opensm::Health::starting)
    deps_.telemetry.report_condition("subnet manager", status.trouble);
  deps_.telemetry.report_condition("memory limit", status.shared_cgroup);
  deps_.telemetry.report_condition("next start of the subnet manager", status.start_refused);
  set_engine_fault(engine_fault(status));
  if (published_.update_manual()) {
    reserve_manual_pkeys();
    if (published_.version() != 0)
      verifier_.set_desired(published_.desired(), published_.unmanaged());
  }
  declared_.engine_changed(now_.steady);
}

void Controller::set_engine_fault(fabric::Condition now) {
  if (now == engine_fault_) return;
  engine_fault_ = std::move(now);
  const fabric::Condition condition =
      engine_fault_.reason == Reason::none ? fabric::Condition{Reason::waiting, ""} : engine_fault_;
  const std::set<ib::Guid> unsettled = deps_.registry.bindings.unsettled();
  for (const ib::Guid port : unsettled)
    deps_.registry.bindings.set_condition(port, condition, now_);
}

void Controller::probed(const probe::ProbeBatch& batch) {
  verifier_.set_engine_health(deps_.subnet_manager.status().health);
  verifier_.record(batch, now_.steady);
  if (batch.topology) note_seen_ports();
  report_repairs(batch);
  apply(verifier_.verdicts_of(batch, now_.steady));
  if (!batch.full_scan) return deps_.telemetry.read(batch.packets);
  if (const auto scanned = verifier_.last_scan()) deps_.registry.bindings.note_full_scan(*scanned);
  deps_.telemetry.scanned(verifier_.counts(), batch.packets, now_.steady - batch.begun);
  deps_.telemetry.report_condition("subnet", verifier_.wrong_subnet());
}

void Controller::report_repairs(const probe::ProbeBatch& batch) {
  for (const probe::ProbeResult& result : batch.ports) {
    if (!result.after_repair) continue;
    const auto& failure = result.repair_error;
    deps_.telemetry.repaired(failure ? probe::name(failure->failure) : "written");
    if (failure)
      deps_.telemetry.warning("cannot repair the P_Key table of port " + result.port.text() + ": " +
                              failure->text());
  }
}

void Controller::apply(const verify::PortVerdicts& verdicts) {
  for (const verify::PortVerdict& verdict : verdicts) apply(verdict);
}

void Controller::apply(const verify::PortVerdict& verdict) {
  using Kind = verify::PortVerdict::Kind;
  switch (verdict.kind) {
    case Kind::condition:
      return deps_.registry.bindings.set_condition(verdict.port, verdict.condition, now_);
    case Kind::verified:
      deps_.registry.bindings.note_verified(verdict.port, verdict.version, verdict.proof,
                                            verdict.enforcement, now_);
      return;
    case Kind::clean:
      deps_.registry.bindings.note_clean(verdict.port, verdict.version, verdict.proof, now_);
      return;
    case Kind::absent:
      return deps_.registry.partitions.note_never_seen(verdict.port, verdict.version);
    case Kind::drifted:
      return deps_.telemetry.drifted(verdict.port, verdict.condition.text);
  }
}

void Controller::observe(const Caller&, const fabricapi::ObserveRequest& request,
                         Done<v1::ObserveResponse> done) {
  for (const auto& seen : request.ports) {
    if (deps_.registry.nodes.owner_of(seen.guid, request.node) == bindings::PortOwner::other_node)
      return done(Error(Code::denied, "permission denied: port " + seen.guid.text() +
                                          " does not belong to node " + request.node));
    const Status possible = verifier_.check_report(seen.guid, seen.table);
    if (!possible) return done(possible.error());
  }
  deps_.registry.nodes.note_contact(request.node, now_);
  for (const auto& seen : request.ports) {
    if (deps_.registry.nodes.owner_of(seen.guid, request.node) != bindings::PortOwner::this_node)
      continue;
    const Result<verify::PortVerdicts> verdicts = verifier_.record_report(
        request.node, seen.guid, seen.table, request.stamp,
        max_reported_entries(deps_.registry.journal.policy().limits), now_.steady);
    if (!verdicts) return done(verdicts.error());
    apply(*verdicts);
  }
  v1::ObserveResponse answer;
  answer.set_stamp(verifier_.stamp());
  for (const ib::Guid port : deps_.registry.bindings.unsettled())
    if (deps_.registry.nodes.owner_of(port, request.node) == bindings::PortOwner::this_node)
      answer.add_wanted(port.value());
  done(std::move(answer));
}

}  // namespace ibpod::sm::controller
