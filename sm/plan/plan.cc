#include "sm/plan/plan.h"

#include "sm/plan/notes.h"
#include "sm/plan/step.h"
#include "sm/tables/table_diff.h"

#include <set>

namespace ibpod::sm {
namespace {

using fabricapi::Plan;

// Whatever partitions speak of, and whatever is there.
std::set<ib::Guid> ports_of(const Evidence& now, const Wanted& after) {
  std::set<ib::Guid> guids;
  for (const fabric::SeenPort& port : now.topology.ports()) guids.insert(port.guid);
  for (const Wanted* wanted : {&now.wanted, &after})
    for (const ib::Guid guid : wanted->named()) guids.insert(guid);
  return guids;
}

void add(Plan& plan, ib::Guid guid, const Step& step, const Evidence& now) {
  ++plan.changed;
  plan.packets += step.blocks;
  if (plan.ports.size() == fabricapi::kMostPlanned) return;
  const fabric::SeenPort* seen = now.topology.find(guid);
  plan.ports.push_back({.guid = guid,
                        .description = seen == nullptr ? "" : seen->description,
                        .before = step.before,
                        .after = step.after});
}

void finish(Plan& plan, const Evidence& now, const PlanTerms& terms) {
  if (plan.changed > 0) plan.seconds = std::chrono::duration<double>(terms.last_sweep).count();
  note_terms(plan, now, terms);
}

// Known, and not right.
bool wrong(const ReadTable* table, const WantedKeys& wanted) {
  return table != nullptr && !judge(table->keys, wanted).good();
}

}  // namespace

Plan plan_change(const std::vector<fabric::Partition>& after, const Evidence& now,
                 const PlanTerms& terms) {
  const Wanted wanted_after(after);
  Plan plan;
  Consequences consequences;
  for (const ib::Guid guid : ports_of(now, wanted_after)) {
    const fabric::EndPort port = end_port(now, guid);
    const WantedKeys from = now.wanted.of(port), to = wanted_after.of(port);
    if (from == to) continue;
    const Step step = step_to(to, guid, now);
    if (!step.known) ++plan.unseen;
    consequences.add(port, from, to, step);
    add(plan, guid, step, now);
  }
  note_change(plan, after, now, consequences);
  finish(plan, now, terms);
  return plan;
}

Plan plan_rest(const Evidence& now, const PlanTerms& terms) {
  Plan plan;
  Consequences consequences;
  for (const ib::Guid guid : ports_of(now, now.wanted)) {
    if (!now.tables.contains(guid)) ++plan.unseen;
    const fabric::EndPort port = end_port(now, guid);
    const WantedKeys wanted = now.wanted.of(port);
    if (!wrong(find(now.tables, guid), wanted) && !wrong(heeded_leaf(now, guid), wanted.anywhere()))
      continue;
    const Step step = step_to(wanted, guid, now);
    consequences.add(port, wanted, wanted, step);
    add(plan, guid, step, now);
  }
  note_rooms(plan, now, consequences);
  finish(plan, now, terms);
  return plan;
}

}  // namespace ibpod::sm
