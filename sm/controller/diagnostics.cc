#include "sm/controller/diagnostics.h"

#include "sm/controller/engine_fault.h"
#include "sm/diagnose/plan.h"
#include "sm/verify/presence.h"

#include <algorithm>

namespace ibpod::sm::controller {
namespace {

ib::PKey pkey_in(const std::vector<fabric::PartitionDefinition>& definitions,
                 const std::string& name) {
  const auto found = std::find_if(
      definitions.begin(), definitions.end(),
      [&](const fabric::PartitionDefinition& definition) { return definition.name == name; });
  return found == definitions.end() ? ib::PKey() : found->pkey;
}

// A port on the subnet has been read many times in this period.
constexpr Duration kLong{120'000};

fabric::WallTime wall_of(verify::VersionHistory::Time time, state::Now now) {
  return now.wall - std::chrono::duration_cast<Duration>(now.steady - time);
}

bool allows_namespace(const fabric::Partition& partition, const fabric::Binding& binding) {
  return allows(partition, binding.pod.name_space) &&
         allows_node(partition, binding.attachment.node);
}

// The number of the partition's bindings that it no longer allows, and that stay.
size_t count_kept_out(const bindings::Registries& registry, const fabric::Partition& partition) {
  fabricapi::BindingFilter filter;
  filter.partition = partition.name;
  fabricapi::PageRequest page;
  size_t count = 0;
  do {
    const auto listed = registry.bindings.list(filter, page);
    if (!listed) return count;
    for (const fabric::Binding& one : listed->items)
      count += allows_namespace(partition, one) ? 0 : 1;
    page.token = listed->next;
  } while (!page.token.empty());
  return count;
}

// Adds a finding for each partition of the binding that no longer allows it.
void add_kept_out(const bindings::Registries& registry, fabricapi::Explanation::Subject& subject) {
  if (!subject.binding) return;
  for (const fabric::PartitionMembership& membership : subject.binding->desired) {
    const auto partition = registry.partitions.view().find(membership.partition);
    if (partition && !allows_namespace(partition->spec, *subject.binding))
      subject.findings.push_back("partition " + membership.partition +
                                 " is no longer open to this namespace on this node; the pod "
                                 "stays in it until it ends");
  }
}

// Adds the faults of the port that the binding's condition does not have: it may have no binding.
void add_faults(const std::vector<engine::PortFault>& faults,
                fabricapi::Explanation::Subject& subject) {
  for (const engine::PortFault& fault : faults) {
    if (fault.port != subject.guid) continue;
    const bool known = std::any_of(
        subject.findings.begin(), subject.findings.end(),
        [&](const std::string& finding) { return finding.find(fault.text) != finding.npos; });
    if (!known) subject.findings.push_back(fault.text);
  }
}

}  // namespace

// The last readings; ports that can no longer be read have none.
struct Diagnostics::Tables {
  diagnose::ReadTables tables, switch_tables;
};

Diagnostics::Diagnostics(Sources sources, diagnose::SmSettings settings, state::Now started)
    : sources_(sources), settings_(settings), started_(started) {}

Diagnostics::Tables Diagnostics::read_tables(state::Now now) const {
  const verify::PortObservations& observations = sources_.verifier.observations();
  Tables known;
  for (const auto& [port, observation] : observations.ports()) {
    const fabric::WallTime seen = wall_of(observation.at, now);
    if (const auto* table = std::get_if<ib::PKeyTable>(&observation.result.table))
      known.tables[port] = {*table, seen, fabric::Proof::port};
    if (!observation.result.switch_port) continue;
    if (const auto* table = std::get_if<ib::PKeyTable>(&observation.result.switch_port->table))
      known.switch_tables[port] = {*table, seen, fabric::Proof::port};
  }
  for (const auto& [port, observation] : observations.node_reports().all())
    if (!known.tables.contains(port))
      known.tables[port] = {observation->table, wall_of(observation->at, now), fabric::Proof::node};
  return known;
}

diagnose::FabricSnapshot Diagnostics::snapshot(const Tables& known, const Definitions& definitions,
                                               const verify::DesiredKeys& desired,
                                               state::Now now) const {
  const verify::PortObservations& observations = sources_.verifier.observations();
  const auto scanned = observations.last_scan();
  return {.topology = observations.topology(),
          .tables = known.tables,
          .switch_tables = known.switch_tables,
          .partitions = definitions,
          .desired = desired,
          .sm_port = observations.sm_port().value_or(ib::Guid()),
          .discovery_began = scanned ? wall_of(*scanned, now) : fabric::WallTime{},
          .serves_vports = sources_.subnet_manager.capabilities().serves_vports};
}

Result<Diagnostics::Definitions> Diagnostics::partitions_after(
    const fabricapi::PlanRequest& request) const {
  const bindings::Registries& registry = sources_.registry;
  if (!request.partition) return registry.partitions.after_remove(request.without);
  Definitions after = TRY(request.update ? registry.partitions.after_update(*request.partition)
                                         : registry.partitions.after_create(*request.partition));
  TRY(sources_.subnet_manager.check(after));
  return after;
}

Result<v1::PlanResponse> Diagnostics::plan(const fabricapi::PlanRequest& request,
                                           state::Now now) const {
  const Tables known = read_tables(now);
  const engine::Capabilities capabilities = sources_.subnet_manager.capabilities();
  const diagnose::PlanOptions options{sources_.subnet_manager.status().last_sweep,
                                      capabilities.writes, capabilities.follows_sweeps};
  // The committed partitions: the last request may not have reached the engine yet.
  const Definitions before =
      sources_.published.all_with(*sources_.registry.partitions.view().definitions());
  const verify::DesiredKeys desired(before);
  const diagnose::FabricSnapshot present = snapshot(known, before, desired, now);
  if (!request.partition && request.without.empty())
    return diagnose::plan_pending(present, options);
  Definitions own = TRY(partitions_after(request));
  const Definitions after = sources_.published.all_with(std::move(own));
  v1::PlanResponse plan = diagnose::plan_change(after, present, options);
  if (request.partition && !request.update && !request.partition->pkey)
    plan.add_notes("its P_Key would be " + pkey_in(after, request.partition->name).text());
  const size_t stay = request.partition && request.update
                          ? count_kept_out(sources_.registry, *request.partition)
                          : 0;
  if (stay > 0)
    plan.add_notes(std::to_string(stay) +
                   " bindings are no longer allowed (by namespace or node), and stay "
                   "until their pods end");
  return plan;
}

// `name`: "NAMESPACE/POD", "POD" in the namespace default, or a GUID. A namespace of another
// cluster has that in front.
Result<diagnose::Subject> Diagnostics::subject_of(const std::string& name) const {
  diagnose::Subject subject{.name = name};
  const auto add = [&](const fabric::Binding& binding) {
    subject.ports.push_back({binding.guid, binding});
  };
  if (const Result<ib::Guid> guid = ib::Guid::parse(name)) {
    const auto bindings = sources_.registry.bindings.bindings_on(*guid);
    for (const fabric::Binding* const binding : bindings) add(*binding);
    if (bindings.empty()) subject.ports.push_back({*guid});
    return subject;
  }
  const size_t slash = name.rfind('/');
  fabricapi::BindingFilter filter;
  filter.name_space = slash == name.npos ? "default" : name.substr(0, slash);
  filter.pod = slash == name.npos ? name : name.substr(slash + 1);
  const auto listed = TRY(sources_.registry.bindings.list(filter, {}));
  std::for_each(listed.items.begin(), listed.items.end(), add);
  return subject;
}

Result<fabricapi::Explanation> Diagnostics::explain(const fabricapi::ExplainRequest& request,
                                                    state::Now now) const {
  std::vector<diagnose::Subject> subjects;
  for (const std::string& subject : request.subjects) {
    diagnose::Subject found = TRY(subject_of(subject).during("'" + subject + "'"));
    subjects.push_back(std::move(found));
    if (subjects.back().ports.empty())
      return Error(Code::not_found,
                   "'" + subject + "': no binding of a pod of this name, and not a GUID");
  }
  const Tables known = read_tables(now);
  fabricapi::Explanation explanation = diagnose::explain(
      subjects, snapshot(known, sources_.published.all(), sources_.verifier.desired(), now));
  const std::vector<engine::PortFault> faults = sources_.subnet_manager.port_faults();
  for (auto& subject : explanation.subjects) {
    add_faults(faults, subject);
    add_kept_out(sources_.registry, subject);
  }
  return explanation;
}

// Empty while the subnet manager does not serve: then every deletion waits, which is reported
// itself.
std::vector<diagnose::StuckDeletion> Diagnostics::stuck_deletions(state::Now now) const {
  const verify::PortObservations& observations = sources_.verifier.observations();
  const bool looked = observations.last_scan() && now.steady - started_.steady >= kLong;
  const fabric::Condition fault = engine_fault(sources_.subnet_manager.status());
  if (!looked || fault.reason != fabric::Reason::none) return {};
  std::vector<diagnose::StuckDeletion> all;
  for (partitions::DeletedPartition& one : sources_.registry.partitions.view().deleted()) {
    std::erase_if(one.ports, [&](ib::Guid port) { return !verify::is_silent(observations, port); });
    if (now.steady - one.since >= kLong && !one.ports.empty())
      all.push_back({diagnose::StuckDeletion::Kind::partition, one.name, one.ports});
  }
  std::map<std::pair<std::string, diagnose::StuckDeletion::Kind>, std::vector<ib::Guid>> by_node;
  for (const fabric::Binding* const binding : sources_.registry.bindings.releasing()) {
    if (now.wall - binding->changed < kLong || !verify::is_silent(observations, binding->guid))
      continue;
    const fabric::Port* const pf = observations.topology().find(binding->pf_guid);
    const bool vport = binding->kind == fabric::Kind::vf && pf != nullptr && pf->virtualized;
    by_node[{binding->attachment.node, vport ? diagnose::StuckDeletion::Kind::vports
                                             : diagnose::StuckDeletion::Kind::bindings}]
        .push_back(binding->guid);
  }
  for (auto& [key, ports] : by_node) all.push_back({key.second, key.first, std::move(ports)});
  return all;
}

diagnose::HealthChecks Diagnostics::health_checks(state::Now now) const {
  const Tables known = read_tables(now);
  return diagnose::run_checks(
      snapshot(known, sources_.published.all(), sources_.verifier.desired(), now),
      sources_.subnet_manager.status(), settings_,
      {.stuck = stuck_deletions(now),
       .duplicate_nodes = sources_.registry.nodes.duplicates(now),
       .declared = sources_.declared.faults()});
}

v1::FabricHealthResponse Diagnostics::health(state::Now now) const {
  const engine::EngineStatus status = sources_.subnet_manager.status();
  v1::FabricHealthResponse health;
  for (diagnose::Finding& found : health_checks(now).issues) {
    v1::FabricHealthResponse::Finding& finding = *health.add_findings();
    finding.set_subject(std::move(found.subject));
    finding.set_text(std::move(found.text));
    finding.set_remedy(std::move(found.remedy));
  }
  health.set_engine(std::string(engine::name(status.health)) + ": version " +
                    std::to_string(status.swept) + " of " +
                    std::to_string(sources_.published.version()) + " is in force");
  return health;
}

}  // namespace ibpod::sm::controller
