// Diagnostics: answers questions of operators: the effect of a change, the state of ports, and
// faults of the fabric. It changes nothing.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/bindings/registries.h"
#include "sm/controller/declared_reconciler.h"
#include "sm/controller/published_partitions.h"
#include "sm/diagnose/explain.h"
#include "sm/diagnose/health_checks.h"
#include "sm/engine/subnet_manager.h"
#include "sm/verify/port_verifier.h"

#include <string>
#include <vector>

namespace ibpod::sm::controller {

class Diagnostics {
 public:
  // All of them outlive it.
  struct Sources {
    const bindings::Registries& registry;
    const engine::SubnetManager& subnet_manager;
    const verify::PortVerifier& verifier;
    const PublishedPartitions& published;
    const DeclaredReconciler& declared;
  };
  // `started`: when ibpod-sm started.
  Diagnostics(Sources sources, diagnose::SmSettings settings, state::Now started);

  using Definitions = std::vector<fabric::PartitionDefinition>;
  // ibpod-sm's partitions after the change; the error of the request itself if it would fail.
  Result<Definitions> partitions_after(const fabricapi::PlanRequest& request) const;
  Result<v1::PlanResponse> plan(const fabricapi::PlanRequest& request, state::Now now) const;
  Result<fabricapi::Explanation> explain(const fabricapi::ExplainRequest& request,
                                         state::Now now) const;
  v1::FabricHealthResponse health(state::Now now) const;
  diagnose::HealthChecks health_checks(state::Now now) const;

 private:
  struct Tables;
  Tables read_tables(state::Now now) const;
  diagnose::FabricSnapshot snapshot(const Tables& known, const Definitions& definitions,
                                    const verify::DesiredKeys& desired, state::Now now) const;
  Result<diagnose::Subject> subject_of(const std::string& name) const;
  std::vector<diagnose::StuckDeletion> stuck_deletions(state::Now now) const;

  Sources sources_;
  diagnose::SmSettings settings_;
  state::Now started_;
};

}  // namespace ibpod::sm::controller
