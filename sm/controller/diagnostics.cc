// What the steward tells people: what a change would do, why a port is as it is, what is wrong.
#include "sm/plan/explain.h"
#include "sm/plan/plan.h"
#include "sm/health_checks/health_checks.h"
#include "sm/controller/controller.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabricapi::Caller;

ib::PKey pkey_in(const std::vector<fabric::Partition>& partitions, const std::string& name) {
  const auto found =
      std::find_if(partitions.begin(), partitions.end(),
                   [&](const fabric::Partition& partition) { return partition.name == name; });
  return found == partitions.end() ? ib::PKey() : found->pkey;
}

Status check_people(const Caller& caller) {
  if (caller.role != fabricapi::Role::node) return ok();
  return Error(Code::denied, "a node does not see what is other nodes'");
}

bool lets_in(const fabric::Tenancy& tenancy, const fabric::Binding& binding) {
  return allows(tenancy, binding.pod.name_space) && allows_node(tenancy, binding.attachment.node);
}

// How many of the partition's bindings it would not let in any more: they stay.
size_t count_kept_out(const Ledger& ledger, const Caller& reader, const fabric::Tenancy& tenancy) {
  fabricapi::BindingFilter filter;
  filter.partition = tenancy.name;
  fabricapi::Page page;
  size_t count = 0;
  do {
    const auto listed = ledger.bindings(reader, filter, page);
    if (!listed) return count;
    for (const fabric::Binding& one : listed->items) count += lets_in(tenancy, one) ? 0 : 1;
    page.token = listed->next;
  } while (!page.token.empty());
  return count;
}

// Partitions that a binding is in, and that would not let it in now.
void add_kept_out(const Ledger& ledger, fabricapi::Explanation::Subject& subject) {
  if (!subject.binding) return;
  for (const fabric::Share& share : subject.binding->shares) {
    const auto partition = ledger.partition(share.partition);
    if (partition && !lets_in(partition->tenancy, *subject.binding))
      subject.findings.push_back("partition " + share.partition +
                                 " is not open to this namespace on this node any more; the pod "
                                 "stays in it until it ends");
  }
}

}  // namespace

// Tables as they were last read; of ports that cannot be read any more, none.
struct Steward::Known {
  ReadTables tables, leaf_tables;
};

fabric::WallTime Steward::wall_of(Placements::Time time) const {
  return now_.wall - std::chrono::duration_cast<Duration>(now_.steady - time);
}

Steward::Known Steward::known() const {
  Known known;
  for (const auto& [port, sight] : sightings_.ports()) {
    const fabric::WallTime seen = wall_of(sight.at);
    if (const auto* table = std::get_if<ib::PKeyTable>(&sight.reading.table))
      known.tables[port] = {*table, seen, fabric::Proof::port};
    if (!sight.reading.leaf) continue;
    if (const auto* table = std::get_if<ib::PKeyTable>(&sight.reading.leaf->table))
      known.leaf_tables[port] = {*table, seen, fabric::Proof::port};
  }
  for (const auto& [port, sight] : sightings_.nodes().all())
    if (!known.tables.contains(port))
      known.tables[port] = {sight->table, wall_of(sight->at), fabric::Proof::node};
  return known;
}

Evidence Steward::evidence(const Known& known, const std::vector<fabric::Partition>& partitions,
                           const Wanted& wanted) const {
  return {.topology = sightings_.topology(),
          .tables = known.tables,
          .leaf_tables = known.leaf_tables,
          .partitions = partitions,
          .wanted = wanted,
          .sm_port = sightings_.sm_port().value_or(ib::Guid()),
          .looked = scanned_ == Placements::Time{} ? fabric::WallTime{} : wall_of(scanned_)};
}

// What such a request would be refused for is refused here.
Result<std::vector<fabric::Partition>> Steward::planned(
    const fabricapi::PlanRequest& request) const {
  const Ledger& ledger = world_.ledger;
  if (!request.tenancy) return ledger.after_remove(request.without);
  std::vector<fabric::Partition> after =
      TRY(request.update ? ledger.after_update(*request.tenancy)
                         : ledger.after_create(*request.tenancy));
  TRY(world_.engine.check(after));
  return after;
}

void Steward::plan(const Caller& caller, const fabricapi::PlanRequest& request,
                   Done<fabricapi::Plan> done) {
  const Status permitted = check_people(caller);
  if (!permitted) return done(permitted.error());
  look(std::move(done), [this, request]() -> Result<fabricapi::Plan> {
    const Known known = this->known();
    const PlanTerms terms{world_.engine.standing().last_sweep, world_.engine.writes()};
    // As they are on disk now: what was asked just before has not come to the engine yet.
    const std::vector<fabric::Partition> before = in_tables(*world_.ledger.partitions());
    const Wanted wanted(before);
    const Evidence now = evidence(known, before, wanted);
    if (!request.tenancy && request.without.empty()) return plan_rest(now, terms);
    const std::vector<fabric::Partition> after = in_tables(TRY(planned(request)));
    fabricapi::Plan plan = plan_change(after, now, terms);
    if (request.tenancy && !request.update && !request.tenancy->pkey)
      plan.notes.push_back(pkey_in(after, request.tenancy->name).text() +
                           " is the P_Key that it would be given now");
    const size_t stay = request.tenancy && request.update
                            ? count_kept_out(world_.ledger, kItself, *request.tenancy)
                            : 0;
    if (stay > 0)
      plan.notes.push_back(std::to_string(stay) +
                           " bindings stay in it that it would not let in any more, by their "
                           "namespace or their node: they leave it when their pods end");
    return plan;
  });
}

// A pod by namespace and name, or a port.
Party Steward::party(const std::string& name) const {
  Party party{.name = name};
  const auto add = [&](const fabric::Binding& binding) {
    party.ports.push_back({binding.guid, binding});
  };
  if (const Result<ib::Guid> guid = ib::Guid::parse(name)) {
    const std::vector<fabric::Binding> bindings = world_.ledger.bindings_of(*guid);
    std::for_each(bindings.begin(), bindings.end(), add);
    if (bindings.empty()) party.ports.push_back({*guid});
    return party;
  }
  const size_t slash = name.find('/');
  fabricapi::BindingFilter filter;
  filter.name_space = slash == name.npos ? "default" : name.substr(0, slash);
  filter.pod = slash == name.npos ? name : name.substr(slash + 1);
  const auto listed = world_.ledger.bindings(kItself, filter, {});
  if (listed) std::for_each(listed->items.begin(), listed->items.end(), add);
  return party;
}

void Steward::explain(const Caller& caller, const fabricapi::ExplainRequest& request,
                      Done<fabricapi::Explanation> done) {
  const Status permitted = check_people(caller);
  if (!permitted) return done(permitted.error());
  look(std::move(done), [this, request]() -> Result<fabricapi::Explanation> {
    std::vector<Party> parties;
    for (const std::string& subject : request.subjects) {
      parties.push_back(party(subject));
      if (parties.back().ports.empty())
        return Error(Code::not_found,
                     "'" + subject + "': no binding of a pod of this name, and no GUID");
    }
    const Known known = this->known();
    fabricapi::Explanation explanation = sm::explain(parties, evidence(known));
    for (auto& subject : explanation.subjects) add_kept_out(world_.ledger, subject);
    return explanation;
  });
}

Posture Steward::posture() const {
  const Known known = this->known();
  return posture_of(
      evidence(known), world_.engine.standing(), settings_.sm,
      {.stuck = stuck(), .doubled = world_.ledger.doubled(now_), .declared = declared_faults()});
}

void Steward::health(const Caller& caller, Done<fabricapi::FabricHealth> done) {
  const Status permitted = check_people(caller);
  if (!permitted) return done(permitted.error());
  look(std::move(done), [this]() -> Result<fabricapi::FabricHealth> {
    const Standing standing = world_.engine.standing();
    fabricapi::FabricHealth health;
    health.findings = posture().findings;
    health.engine = std::string(name(standing.health)) + ": version " +
                    std::to_string(standing.swept) + " of " + std::to_string(told_) +
                    " is in force";
    return health;
  });
}

}  // namespace ibpod::sm
