// FabricReconciler: makes the subnet agree with the registries. It passes committed partitions to
// the subnet manager, has ports read and repaired, and tells the registries what the ports' tables
// show.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/bindings/port_facts.h"
#include "sm/bindings/registries.h"
#include "sm/controller/change_times.h"
#include "sm/controller/published_partitions.h"
#include "sm/controller/published_vf_ports.h"
#include "sm/engine/subnet_manager.h"
#include "sm/probe/port_prober.h"
#include "sm/telemetry/telemetry.h"
#include "sm/verify/port_verifier.h"

#include <functional>
#include <optional>
#include <set>

namespace ibpod::sm::controller {

class FabricReconciler {
 public:
  using Time = Deadline::Clock::time_point;

  // All of them outlive it.
  struct Deps {
    bindings::Registries& registry;
    engine::SubnetManager& subnet_manager;
    probe::PortProber& prober;
    telemetry::Telemetry& telemetry;
    // The present time, for time stamps that must be later than a status that was just read.
    std::function<Time()> clock;
  };
  FabricReconciler(Deps deps, verify::PortVerifier::Settings settings);

  // The state of the subnet manager may have changed.
  void engine_changed(state::Now now);
  void probed(const probe::ProbeBatch& batch, state::Now now);
  // A node's report of its ports' tables. denied, or the error of verify::check_report(), for
  // the whole report if that is so of one port.
  Result<v1::ObserveResponse> observe(const fabricapi::ObserveRequest& request, state::Now now);
  // The registry has new static members: tells it which of them may be on the subnet.
  void note_seen_ports();

  // Passes the partitions and the VFs, which have been committed, to the subnet manager, and its
  // progress to the registries.
  void publish(state::Now now);
  // Has ports repaired, and polls those that are not settled.
  void repair_and_poll();
  void forget_report(ib::Guid port) { verifier_.forget_report(port); }

  // The facts about the subnet that decide a Bind. Valid until the next event.
  bindings::PortFacts facts_of(const fabricapi::BindRequest& request) const;
  // Why no change can be applied; Reason::none: changes can.
  const fabric::Condition& engine_fault() const { return engine_fault_; }
  const verify::PortVerifier& verifier() const { return verifier_; }
  const PublishedPartitions& published() const { return published_; }

 private:
  void set_engine_fault(fabric::Condition fault, state::Now now);
  void reserve_manual_pkeys();
  void apply(const verify::PortVerdicts& verdicts, state::Now now);
  void apply(const verify::PortVerdict& verdict, state::Now now);
  void report_repairs(const probe::ProbeBatch& batch);
  bindings::TableCapacity table_capacity(ib::Guid port) const;

  Deps deps_;
  std::optional<ib::Guid> own_port_;
  verify::PortVerifier verifier_;
  PublishedPartitions published_;
  PublishedVfPorts vf_ports_;
  ChangeTimes change_times_;
  fabric::Condition engine_fault_;
  std::set<ib::Guid> polled_;
};

}  // namespace ibpod::sm::controller
