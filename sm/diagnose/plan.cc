#include "sm/diagnose/plan.h"

#include "lib/fabricapi/fields.h"
#include "sm/diagnose/notes.h"
#include "sm/diagnose/step.h"
#include "sm/verify/table_diff.h"

#include <set>

namespace ibpod::sm::diagnose {
namespace {

using Plan = v1::PlanResponse;

// The ports that partitions name, and all ports of the subnet.
std::set<ib::Guid> ports_of(const FabricSnapshot& now, const verify::DesiredKeys& after) {
  std::set<ib::Guid> guids;
  for (const fabric::Port& port : now.topology.ports()) guids.insert(port.guid);
  for (const verify::DesiredKeys* desired : {&now.desired, &after})
    for (const ib::Guid guid : desired->named()) guids.insert(guid);
  return guids;
}

void add(Plan& plan, ib::Guid guid, const TableStep& step, const FabricSnapshot& now) {
  plan.set_changed(plan.changed() + 1);
  plan.set_packets(plan.packets() + step.blocks);
  if (plan.ports_size() == fabricapi::kMostPlanned) return;
  Plan::Port& port = *plan.add_ports();
  port.set_guid(guid.value());
  if (const fabric::Port* const seen = now.topology.find(guid))
    port.set_description(seen->description);
  port.set_before(step.before);
  port.set_after(step.after);
}

void finish(Plan& plan, const FabricSnapshot& now, const PlanOptions& terms) {
  if (plan.changed() > 0) plan.set_seconds(std::chrono::duration<double>(terms.last_sweep).count());
  note_options(plan, now, terms);
}

// True if the table is known and differs from the desired one.
bool wrong(const ReadTable* table, const verify::DesiredTable& desired) {
  return table != nullptr && !verify::compare(table->keys, desired).good();
}

}  // namespace

Plan plan_change(const std::vector<fabric::PartitionDefinition>& after, const FabricSnapshot& now,
                 const PlanOptions& terms) {
  const verify::DesiredKeys wanted_after(after);
  Plan plan;
  ChangeSummary consequences;
  for (const ib::Guid guid : ports_of(now, wanted_after)) {
    const fabric::EndPort port = end_port(now, guid);
    const verify::DesiredTable from = now.desired.of(port), to = wanted_after.of(port);
    if (from == to) continue;
    const TableStep step = table_step(to, guid, now);
    if (!step.known) plan.set_unseen(plan.unseen() + 1);
    consequences.add(port, from, to, step);
    add(plan, guid, step, now);
  }
  note_change(plan, after, now, consequences);
  finish(plan, now, terms);
  return plan;
}

Plan plan_pending(const FabricSnapshot& now, const PlanOptions& terms) {
  Plan plan;
  ChangeSummary consequences;
  for (const ib::Guid guid : ports_of(now, now.desired)) {
    if (!now.tables.contains(guid)) plan.set_unseen(plan.unseen() + 1);
    const fabric::EndPort port = end_port(now, guid);
    const verify::DesiredTable desired = now.desired.of(port);
    if (!wrong(find(now.tables, guid), desired) &&
        !wrong(enforcing_switch_table(now, guid), desired.anywhere()))
      continue;
    const TableStep step = table_step(desired, guid, now);
    consequences.add(port, desired, desired, step);
    add(plan, guid, step, now);
  }
  note_capacity(plan, now, consequences);
  finish(plan, now, terms);
  return plan;
}

}  // namespace ibpod::sm::diagnose
