#include "sm/state/records.h"

namespace ibpod::sm::state {
namespace {

template <typename Map>
const typename Map::mapped_type* find_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

const BindingRecord* Records::find_binding(const fabric::Attachment& attachment) const {
  return find_in(bindings, attachment);
}
const PartitionRecord* Records::find_partition(const std::string& name) const {
  return find_in(partitions, name);
}
const PortRecord* Records::find_port(ib::Guid guid) const { return find_in(ports, guid); }
const NodeRecord* Records::find_node(const std::string& name) const { return find_in(nodes, name); }

bool is_child(const fabric::Binding& binding) { return binding.kind == fabric::Kind::child; }

Memberships all_memberships(const BindingRecord& entry) {
  Memberships all = entry.binding.desired;
  for (const Memberships* more : {&entry.binding.applied, &entry.pending_removal})
    for (const fabric::PartitionMembership& membership : *more)
      if (!contains(all, membership)) all.push_back(membership);
  return all;
}

// Released bindings are no longer in partitions.conf.
size_t memberships_with(const Records& records, ib::Guid guid, const Memberships& added,
                        const BindingRecord* except) {
  std::set<std::string_view> names;
  for (const fabric::PartitionMembership& membership : added) names.insert(membership.partition);
  const PortRecord* const found = records.find_port(guid);
  if (found == nullptr) return names.size();
  for (const BindingRecord* const entry : found->bindings)
    if (entry != except && entry->binding.state != fabric::BindingState::releasing)
      for (const fabric::PartitionMembership& membership : entry->binding.desired)
        names.insert(membership.partition);
  return names.size();
}

}  // namespace ibpod::sm::state
