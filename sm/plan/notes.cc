#include "sm/plan/notes.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Partition;
using fabricapi::Plan;

std::string ports(size_t count) {
  return std::to_string(count) + (count == 1 ? " port" : " ports");
}

bool has(const WantedKeys& wanted, ib::PKey key) {
  return std::binary_search(wanted.keys.begin(), wanted.keys.end(), key);
}

bool in(const WantedKeys& wanted, ib::PKey key) {
  return std::any_of(wanted.keys.begin(), wanted.keys.end(),
                     [&](ib::PKey one) { return one.same_partition(key); });
}

const Partition* find(const std::vector<Partition>& partitions, ib::PKey pkey) {
  for (const Partition& partition : partitions)
    if (partition.pkey == pkey) return &partition;
  return nullptr;
}

void note_default(Plan& plan, const Consequences& consequences) {
  if (consequences.closed > 0) {
    plan.notes.push_back(
        ports(consequences.closed) + " will no longer be full in the default partition, " +
        std::to_string(consequences.hosts) +
        " of them in no other one: by P_Key 0x7fff they reach its full members only, and not each "
        "other. Whatever hosts do by the default partition among themselves ends (IPoIB on the "
        "PF, storage)");
  }
  if (consequences.opened > 0) {
    plan.notes.push_back(ports(consequences.opened) +
                         " will be full in the default partition: each reaches every port of the "
                         "fabric, whatever partitions tenants are in");
  }
}

void note_vanishing(Plan& plan, const std::vector<Partition>& after, const Evidence& now,
                    const Consequences& consequences) {
  for (const Partition& partition : now.partitions) {
    if (find(after, partition.pkey) != nullptr) continue;
    const auto found = consequences.losers.find(partition.pkey.value());
    plan.notes.push_back(
        "the partition " + partition.name + " (" + partition.pkey.text() + ") vanishes; " +
        ports(found == consequences.losers.end() ? 0 : found->second) + " will leave it");
  }
}

void note_groups(Plan& plan, const std::vector<Partition>& after, const Evidence& now) {
  for (const Partition& partition : now.partitions) {
    const Partition* changed = find(after, partition.pkey);
    if (changed == nullptr || !partition.ipoib) continue;
    if (changed->ipoib && changed->group == partition.group) continue;
    plan.notes.push_back("the IPoIB broadcast group of " + partition.name +
                         " stays as it was made until the partition has been without members for "
                         "a sweep of OpenSM's");
  }
}

void note_clashes(Plan& plan, const std::vector<Partition>& after, const Evidence& now) {
  const auto before = index0_clashes(now.partitions, now);
  for (const auto& [guid, names] : index0_clashes(after, now)) {
    const auto found = before.find(guid);
    if (found != before.end() && found->second == names) continue;
    std::string listed_names;
    for (const std::string& name : names) listed_names += (listed_names.empty() ? "" : ", ") + name;
    plan.notes.push_back(described(now.topology, guid) +
                         ": more than one partition claims index 0, and one of them will not get "
                         "it: " +
                         listed_names);
  }
}

}  // namespace

void Consequences::add(const fabric::EndPort& port, const WantedKeys& from, const WantedKeys& to,
                       const Step& step) {
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

void note_rooms(Plan& plan, const Evidence& now, const Consequences& consequences) {
  if (consequences.crowded.empty()) return;
  plan.notes.push_back(ports(consequences.crowded.size()) +
                       " with more keys than the table, or the switch port's, has places: some "
                       "will be missing, and a switch port then enforces nothing. The first: " +
                       described(now.topology, consequences.crowded.front()));
}

void note_change(Plan& plan, const std::vector<Partition>& after, const Evidence& now,
                 const Consequences& consequences) {
  note_default(plan, consequences);
  note_vanishing(plan, after, now, consequences);
  note_rooms(plan, now, consequences);
  note_clashes(plan, after, now);
  note_groups(plan, after, now);
}

void note_terms(Plan& plan, const Evidence& now, const PlanTerms& terms) {
  if (now.topology.ports().empty()) {
    plan.notes.push_back(
        "the subnet has not been seen yet: only ports that a partition names are "
        "counted");
  } else if (!now.topology.whole()) {
    plan.notes.push_back("not all of the subnet could be seen: there may be more ports");
  }
  if (plan.changed == 0) return;
  if (!terms.writes)
    plan.notes.push_back("ibpod-sm only observes: whoever owns the subnet manager has to do it");
  else if (terms.last_sweep == Duration(0))
    plan.notes.push_back(
        "how long it takes is not known: no sweep of the subnet manager's has been timed");
}

}  // namespace ibpod::sm
