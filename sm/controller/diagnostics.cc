// Diagnostics for people: the effect of a change, the state of a port, health checks.
#include "sm/controller/controller.h"
#include "sm/diagnose/explain.h"
#include "sm/diagnose/health_checks.h"
#include "sm/diagnose/plan.h"

#include <algorithm>

namespace ibpod::sm::controller {
namespace {

using fabricapi::Caller;

ib::PKey pkey_in(const std::vector<fabric::PartitionDefinition>& definitions,
                 const std::string& name) {
  const auto found = std::find_if(
      definitions.begin(), definitions.end(),
      [&](const fabric::PartitionDefinition& definition) { return definition.name == name; });
  return found == definitions.end() ? ib::PKey() : found->pkey;
}

Status check_role(const Caller& caller) {
  if (caller.role != fabricapi::Role::node) return ok();
  return Error(Code::denied, "permission denied: role node cannot query other nodes");
}

bool allows_namespace(const fabric::Partition& partition, const fabric::Binding& binding) {
  return allows(partition, binding.pod.name_space) &&
         allows_node(partition, binding.attachment.node);
}

// The number of the partition's bindings that it no longer allows; they stay.
size_t count_kept_out(const registry::Registry& registry, const Caller& reader,
                      const fabric::Partition& partition) {
  fabricapi::BindingFilter filter;
  filter.partition = partition.name;
  fabricapi::PageRequest page;
  size_t count = 0;
  do {
    const auto listed = registry.bindings(reader, filter, page);
    if (!listed) return count;
    for (const fabric::Binding& one : listed->items)
      count += allows_namespace(partition, one) ? 0 : 1;
    page.token = listed->next;
  } while (!page.token.empty());
  return count;
}

// Adds a finding for each partition of the binding that no longer allows it.
void add_kept_out(const registry::Registry& registry, fabricapi::Explanation::Subject& subject) {
  if (!subject.binding) return;
  for (const fabric::PartitionMembership& membership : subject.binding->desired) {
    const auto partition = registry.partition(membership.partition);
    if (partition && !allows_namespace(partition->spec, *subject.binding))
      subject.findings.push_back("partition " + membership.partition +
                                 " is no longer open to this namespace on this node; the pod "
                                 "stays in it until it ends");
  }
}

}  // namespace

// The last readings; ports that can no longer be read have none.
struct Controller::SnapshotTables {
  diagnose::ReadTables tables, switch_tables;
};

fabric::WallTime Controller::wall_of(verify::VersionHistory::Time time) const {
  return now_.wall - std::chrono::duration_cast<Duration>(now_.steady - time);
}

Controller::SnapshotTables Controller::snapshot_tables() const {
  SnapshotTables known;
  for (const auto& [port, observation] : observations_.ports()) {
    const fabric::WallTime seen = wall_of(observation.at);
    if (const auto* table = std::get_if<ib::PKeyTable>(&observation.result.table))
      known.tables[port] = {*table, seen, fabric::Proof::port};
    if (!observation.result.switch_port) continue;
    if (const auto* table = std::get_if<ib::PKeyTable>(&observation.result.switch_port->table))
      known.switch_tables[port] = {*table, seen, fabric::Proof::port};
  }
  for (const auto& [port, observation] : observations_.node_reports().all())
    if (!known.tables.contains(port))
      known.tables[port] = {observation->table, wall_of(observation->at), fabric::Proof::node};
  return known;
}

diagnose::FabricSnapshot Controller::snapshot(
    const SnapshotTables& known, const std::vector<fabric::PartitionDefinition>& definitions,
    const verify::DesiredKeys& desired) const {
  return {.topology = observations_.topology(),
          .tables = known.tables,
          .switch_tables = known.switch_tables,
          .partitions = definitions,
          .desired = desired,
          .sm_port = observations_.sm_port().value_or(ib::Guid()),
          .discovery_began = last_scan_began_ == verify::VersionHistory::Time{}
                                 ? fabric::WallTime{}
                                 : wall_of(last_scan_began_)};
}

// Fails for the same reasons as the request itself would.
Result<std::vector<fabric::PartitionDefinition>> Controller::planned(
    const fabricapi::PlanRequest& request) const {
  const registry::Registry& registry = deps_.registry;
  if (!request.partition) return registry.after_remove(request.without);
  std::vector<fabric::PartitionDefinition> after =
      TRY(request.update ? registry.after_update(*request.partition)
                         : registry.after_create(*request.partition));
  TRY(deps_.subnet_manager.check(after));
  return after;
}

void Controller::plan(const Caller& caller, const fabricapi::PlanRequest& request,
                      Done<fabricapi::Plan> done) {
  const Status permitted = check_role(caller);
  if (!permitted) return done(permitted.error());
  answer_committed(std::move(done), [this, request]() -> Result<fabricapi::Plan> {
    const SnapshotTables known = this->snapshot_tables();
    const diagnose::PlanOptions terms{deps_.subnet_manager.status().last_sweep,
                                      deps_.subnet_manager.writes()};
    // The committed partitions: the last request may not have reached the engine yet.
    const std::vector<fabric::PartitionDefinition> before =
        resulting_partitions(*deps_.registry.partitions());
    const verify::DesiredKeys desired(before);
    const diagnose::FabricSnapshot now = snapshot(known, before, desired);
    if (!request.partition && request.without.empty()) return diagnose::plan_pending(now, terms);
    const std::vector<fabric::PartitionDefinition> after =
        resulting_partitions(TRY(planned(request)));
    fabricapi::Plan plan = diagnose::plan_change(after, now, terms);
    if (request.partition && !request.update && !request.partition->pkey)
      plan.notes.push_back("its P_Key would be " + pkey_in(after, request.partition->name).text());
    const size_t stay = request.partition && request.update
                            ? count_kept_out(deps_.registry, kController, *request.partition)
                            : 0;
    if (stay > 0)
      plan.notes.push_back(std::to_string(stay) +
                           " bindings are no longer allowed (by namespace or node), and stay "
                           "until their pods end");
    return plan;
  });
}

// `name`: "NAMESPACE/POD", "POD" in the namespace default, or a GUID.
diagnose::Subject Controller::subject_of(const std::string& name) const {
  diagnose::Subject subject{.name = name};
  const auto add = [&](const fabric::Binding& binding) {
    subject.ports.push_back({binding.guid, binding});
  };
  if (const Result<ib::Guid> guid = ib::Guid::parse(name)) {
    const std::vector<fabric::Binding> bindings = deps_.registry.bindings_of(*guid);
    std::for_each(bindings.begin(), bindings.end(), add);
    if (bindings.empty()) subject.ports.push_back({*guid});
    return subject;
  }
  const size_t slash = name.find('/');
  fabricapi::BindingFilter filter;
  filter.name_space = slash == name.npos ? "default" : name.substr(0, slash);
  filter.pod = slash == name.npos ? name : name.substr(slash + 1);
  const auto listed = deps_.registry.bindings(kController, filter, {});
  if (listed) std::for_each(listed->items.begin(), listed->items.end(), add);
  return subject;
}

void Controller::explain(const Caller& caller, const fabricapi::ExplainRequest& request,
                         Done<fabricapi::Explanation> done) {
  const Status permitted = check_role(caller);
  if (!permitted) return done(permitted.error());
  answer_committed(std::move(done), [this, request]() -> Result<fabricapi::Explanation> {
    std::vector<diagnose::Subject> subjects;
    for (const std::string& subject : request.subjects) {
      subjects.push_back(subject_of(subject));
      if (subjects.back().ports.empty())
        return Error(Code::not_found,
                     "'" + subject + "': no binding of a pod of this name, and not a GUID");
    }
    const SnapshotTables known = this->snapshot_tables();
    fabricapi::Explanation explanation = sm::diagnose::explain(subjects, snapshot(known));
    for (auto& subject : explanation.subjects) add_kept_out(deps_.registry, subject);
    return explanation;
  });
}

diagnose::HealthChecks Controller::health_checks() const {
  const SnapshotTables known = this->snapshot_tables();
  return diagnose::run_checks(snapshot(known), deps_.subnet_manager.status(), settings_.sm,
                              {.stuck = stuck_deletions(),
                               .duplicate_nodes = deps_.registry.duplicate_nodes(now_),
                               .declared = declared_file_faults()});
}

void Controller::health(const Caller& caller, Done<fabricapi::FabricHealth> done) {
  const Status permitted = check_role(caller);
  if (!permitted) return done(permitted.error());
  answer_committed(std::move(done), [this]() -> Result<fabricapi::FabricHealth> {
    const opensm::EngineStatus status = deps_.subnet_manager.status();
    fabricapi::FabricHealth health;
    health.findings = health_checks().issues;
    health.engine = std::string(opensm::name(status.health)) + ": version " +
                    std::to_string(status.swept) + " of " + std::to_string(published_version_) +
                    " is in force";
    return health;
  });
}

}  // namespace ibpod::sm::controller
