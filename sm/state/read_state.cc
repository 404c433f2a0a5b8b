#include "sm/state/read_state.h"

#include "lib/fabric/cluster_names.h"
#include "sm/state/names.h"
#include "sm/state/stored.h"

namespace ibpod::sm::state {
namespace {

using fabric::BindingState;
using Values = std::map<std::string, std::string>;

Error unfit(const std::string& text) { return {Code::invalid, text}; }

Status read_partition(State& state, const std::string& key, const std::string& value) {
  StoredPartition stored = TRY(partition_from(value));
  if (stored.partition.name != key) return unfit("its value belongs to " + stored.partition.name);
  const auto& by_pkey = state.records().by_pkey;
  const auto other = by_pkey.find(stored.partition.pkey->partition());
  if (other != by_pkey.end())
    return unfit("it has the P_Key of partition " + other->second->partition.name);
  PartitionRecord& record = state.add(std::move(stored.partition));
  record.declared = stored.declared;
  record.condition = {fabric::Reason::waiting, ""};
  if (stored.deleting) record.state = fabric::PartitionState::deleting;
  for (const ib::Guid guid : stored.former_members) state.set_former_member(record, guid, true);
  return ok();
}

Status check_partitions(const Records& records, const StoredBinding& stored) {
  for (const Memberships* const memberships :
       {&stored.binding.desired, &stored.binding.applied, &stored.pending_removal})
    for (const fabric::PartitionMembership& requested : *memberships) {
      const PartitionRecord* const record = records.find_partition(requested.partition);
      if (record == nullptr || record->deleting())
        return unfit("there is no partition " + requested.partition.substr(0, fabric::kMostName));
    }
  if (stored.binding.state == BindingState::releasing && !stored.binding.applied.empty())
    return unfit("it is releasing, but has applied keys");
  if (only_in_first(stored.binding.applied, stored.binding.desired).empty()) return ok();
  return unfit("it has applied keys that are not desired");
}

Status check_memberships(const PortRecord& port, const fabric::Binding& binding) {
  for (const fabric::PartitionMembership& requested : binding.applied) {
    for (const BindingRecord* const other : port.bindings)
      if (membership_in(other->binding.applied, requested.partition)
              .value_or(requested.membership) != requested.membership)
        return unfit("its port has two memberships in partition " + requested.partition);
    for (const auto& [record, membership] : port.members)
      if (record->partition.name == requested.partition && membership != requested.membership)
        return unfit("its port has two memberships in partition " + requested.partition);
  }
  return ok();
}

Status check_port(const Records& records, const fabric::Binding& binding) {
  const PortRecord* const port = records.find_port(binding.guid);
  if (port == nullptr) return ok();
  for (const BindingRecord* const other : port->bindings) {
    const fabric::Binding& theirs = other->binding;
    const bool children = binding.kind == fabric::Kind::child && theirs.kind == fabric::Kind::child;
    if (!children || theirs.attachment.node != binding.attachment.node)
      return unfit("its port belongs to " + text(theirs.attachment));
  }
  return check_memberships(*port, binding);
}

Status read_binding(State& state, const std::string& key, const std::string& value) {
  StoredBinding stored = TRY(binding_from(value));
  TRY(check(stored.binding.attachment));
  if (key_of(stored.binding.attachment) != key)
    return unfit("its value belongs to " + text(stored.binding.attachment));
  const fabric::Binding& binding = stored.binding;
  if (fabric::cluster_of(binding.pod.name_space) != fabric::cluster_of(binding.attachment.node))
    return unfit("its pod's namespace is of another cluster than its node");
  TRY(check_partitions(state.records(), stored));
  TRY(check_port(state.records(), stored.binding));
  state.add(std::move(stored.binding), std::move(stored.pending_removal));
  return ok();
}

Status read_node(State& state, const std::string& key, const std::string& value) {
  const StoredNode stored = TRY(node_from(value));
  TRY(check_node(key));
  state.node(key).forgetting = stored.forgetting;
  state.node(key).boot_ids = BootIdTracker(stored.boot, {});
  for (const ib::Guid guid : stored.pfs) {
    const auto& claims = state.records().guids.claims;
    const auto other = claims.find(guid);
    if (other != claims.end())
      return unfit("PF " + guid.text() + " is also claimed by node " + other->second);
    state.claim(guid, key);
  }
  return ok();
}

Status read_vf(State& state, const std::string& key, const std::string& value) {
  const ib::Guid guid = TRY(ib::Guid::parse(key));
  const VfSlot slot = TRY(vf_slot_from(value));
  TRY(check_node(slot.node));
  if (state.records().guids.by_vf.contains(slot)) return unfit("its VF has two GUIDs");
  state.assign_guid(guid, slot);
  return ok();
}

Status read_last(State& state, const std::string& key, const std::string& value) {
  const uint64_t last = TRY(last_from(value));
  if (key == "pkeys") {
    if (last > 0x7fff) return unfit("its value is not a P_Key");
    state.set_last_pkey(static_cast<uint16_t>(last));
    return ok();
  }
  if (key != "guids") return unfit("unknown pool");
  state.set_last_guid(ib::Guid(last));
  return ok();
}

using Read = Status (*)(State&, const std::string& key, const std::string& value);

Status read_all(Store& store, RecordKind kind, const char* noun, State& state, Read read) {
  const Values values = TRY(store.all(kind));
  for (const auto& [key, value] : values)
    TRY(read(state, key, value).during(std::string(noun) + " \"" + key + "\" of the store"));
  return ok();
}

Status check_ranges(const Records& records, const Policy& policy) {
  pool::PKeyPool::Partitions live;
  for (const auto& [pkey, record] : records.by_pkey)
    if (!record->deleting()) live.insert(pkey);
  return policy.pkeys.covers(live);
}

// Without its option OpenSM would make `both` full, and reject the whole file. Other subnet
// managers have no such membership.
Status check_both(const Records& records, const Policy& policy) {
  if (policy.unsupported.both.empty()) return ok();
  const auto refuse = [&](const std::string& partition, const std::string& whose) {
    return Error(Code::invalid,
                 "partition " + partition + ": the membership of " + whose +
                     " is \"both\", which " + policy.unsupported.both +
                     "; start ibpod-sm with its previous configuration, change the membership to "
                     "limited or full, then start it with this one");
  };
  const auto is_both = [](const auto& one) { return one.membership == fabric::Membership::both; };
  for (const auto& [name, record] : records.partitions) {
    const fabric::Partition& partition = record.partition;
    if (record.deleting()) continue;
    if (is_both(partition)) return refuse(name, "bindings that request none");
    for (const fabric::StaticMember& member : partition.members)
      if (is_both(member)) return refuse(name, "member " + member.guid.text());
  }
  for (const auto& [attachment, entry] : records.bindings) {
    if (entry.binding.state == BindingState::releasing) continue;
    for (const fabric::PartitionMembership& requested : entry.binding.desired)
      if (is_both(requested)) return refuse(requested.partition, "binding " + text(attachment));
  }
  return ok();
}

}  // namespace

Result<std::unique_ptr<State>> read_state(Store& store, const Policy& policy) {
  auto state = std::make_unique<State>();
  TRY(read_all(store, RecordKind::partition, "partition", *state, read_partition));
  TRY(read_all(store, RecordKind::binding, "binding", *state, read_binding));
  TRY(read_all(store, RecordKind::node, "node", *state, read_node));
  TRY(read_all(store, RecordKind::guid, "GUID", *state, read_vf));
  TRY(read_all(store, RecordKind::range, "pool", *state, read_last));
  TRY(check_ranges(state->records(), policy));
  TRY(check_both(state->records(), policy));
  return state;
}

}  // namespace ibpod::sm::state
