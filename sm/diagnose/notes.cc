#include "sm/diagnose/notes.h"

#include "lib/base/join.h"

#include <algorithm>

namespace ibpod::sm::diagnose {
namespace {

using fabric::PartitionDefinition;
using Plan = v1::PlanResponse;

std::string ports(size_t count) {
  return std::to_string(count) + (count == 1 ? " port" : " ports");
}

bool has(const verify::DesiredTable& desired, ib::PKey key) {
  return std::binary_search(desired.keys.begin(), desired.keys.end(), key);
}

bool in(const verify::DesiredTable& desired, ib::PKey key) {
  return std::any_of(desired.keys.begin(), desired.keys.end(),
                     [&](ib::PKey one) { return one.same_partition(key); });
}

const PartitionDefinition* find(const std::vector<PartitionDefinition>& definitions,
                                ib::PKey pkey) {
  for (const PartitionDefinition& definition : definitions)
    if (definition.pkey == pkey) return &definition;
  return nullptr;
}

void note_default(Plan& plan, const ChangeSummary& consequences) {
  if (consequences.closed > 0) {
    plan.add_notes(
        ports(consequences.closed) + " will no longer be full members of the default partition, " +
        std::to_string(consequences.hosts) +
        " of them in no other partition: with P_Key 0x7fff they reach only its full members, not "
        "each other. Traffic between hosts in the default partition ends (IPoIB on the PF, "
        "storage)");
  }
  if (consequences.opened > 0) {
    plan.add_notes(ports(consequences.opened) +
                   " will be full members of the default partition: each of them reaches "
                   "every port of the fabric, in whatever partition that is");
  }
}

void note_vanishing(Plan& plan, const std::vector<PartitionDefinition>& after,
                    const FabricSnapshot& now, const ChangeSummary& consequences) {
  for (const PartitionDefinition& definition : now.partitions) {
    if (find(after, definition.pkey) != nullptr) continue;
    const auto found = consequences.losers.find(definition.pkey.value());
    plan.add_notes(
        "partition " + definition.name + " (" + definition.pkey.text() + ") will be removed; " +
        ports(found == consequences.losers.end() ? 0 : found->second) + " will leave it");
  }
}

void note_groups(Plan& plan, const std::vector<PartitionDefinition>& after,
                 const FabricSnapshot& now) {
  for (const PartitionDefinition& definition : now.partitions) {
    const PartitionDefinition* changed = find(after, definition.pkey);
    if (changed == nullptr || !definition.ipoib) continue;
    if (changed->ipoib && changed->group == definition.group) continue;
    plan.add_notes("the IPoIB broadcast group of " + definition.name +
                   " keeps its parameters until a sweep finds the partition without members");
  }
}

void note_clashes(Plan& plan, const std::vector<PartitionDefinition>& after,
                  const FabricSnapshot& now) {
  const auto before = index0_clashes(now.partitions, now);
  for (const auto& [guid, names] : index0_clashes(after, now)) {
    const auto found = before.find(guid);
    if (found != before.end() && found->second == names) continue;
    plan.add_notes(described(now.topology, guid) +
                   ": more than one partition claims index 0, and only one of them will "
                   "get it: " +
                   join(names, ", "));
  }
}

}  // namespace

void ChangeSummary::add(const fabric::EndPort& port, const verify::DesiredTable& from,
                        const verify::DesiredTable& to, const TableStep& step) {
  const bool was = has(from, ib::kDefaultFull), is = has(to, ib::kDefaultFull);
  if (!was && is) ++opened;
  if (was && !is) {
    ++closed;
    hosts += to.keys.size() == 1 ? 1 : 0;
  }
  uint16_t last = 0;
  for (const ib::PKey key : from.keys)
    if (!in(to, key) && key.partition() != last) ++losers[last = key.partition()];
  if (!step.fits) crowded.push_back(port.guid);
}

void note_capacity(Plan& plan, const FabricSnapshot& now, const ChangeSummary& consequences) {
  if (consequences.crowded.empty()) return;
  plan.add_notes(ports(consequences.crowded.size()) +
                 " with more keys than the P_Key table, or the switch port's, has entries: "
                 "some keys will be missing, and such a switch port enforces nothing. First: " +
                 described(now.topology, consequences.crowded.front()));
}

void note_change(Plan& plan, const std::vector<PartitionDefinition>& after,
                 const FabricSnapshot& now, const ChangeSummary& consequences) {
  note_default(plan, consequences);
  note_vanishing(plan, after, now, consequences);
  note_capacity(plan, now, consequences);
  note_clashes(plan, after, now);
  note_groups(plan, after, now);
}

void note_options(Plan& plan, const FabricSnapshot& now, const PlanOptions& terms) {
  if (now.topology.ports().empty()) {
    plan.add_notes(
        "the subnet has not been scanned yet: only ports that a partition names are counted");
  } else if (!now.topology.is_complete()) {
    plan.add_notes("the last scan of the subnet is incomplete: there may be more ports");
  }
  if (plan.changed() == 0) return;
  if (!terms.writes)
    plan.add_notes("ibpod-sm only observes: make the change at the subnet manager");
  else if (!terms.follows_sweeps)
    plan.add_notes(
        "the duration is not known: the subnet manager shows when it has stored a change, not when "
        "it has written the tables");
  else if (terms.last_sweep == Duration(0))
    plan.add_notes("the duration is not known: no sweep of the subnet manager has been timed yet");
}

}  // namespace ibpod::sm::diagnose
