// Lookups.
#include "sm/api/authz.h"
#include "sm/registry/authz.h"
#include "sm/registry/names.h"
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

#include <algorithm>

namespace ibpod::sm::registry {
namespace {

using fabric::Binding;
using fabricapi::BindingFilter;
using fabricapi::Caller;
using fabricapi::ListPage;
using fabricapi::PageRequest;

constexpr uint32_t kMostListed = 1000;

size_t size_of(const PageRequest& page) {
  return page.size == 0 ? kMostListed : std::min(page.size, kMostListed);
}

// Adds matching bindings from `at` on, and sets the token of the next page.
template <typename Iterator, typename EntryOf>
void list(Iterator at, Iterator end, const EntryOf& entry_of, const BindingFilter& filter,
          const PageRequest& page, ListPage<Binding>& listed) {
  for (; at != end; ++at) {
    const Binding& binding = entry_of(*at).binding;
    if (!filter.node.empty() && binding.attachment.node > filter.node) return;
    if (!fabricapi::matches(filter, binding)) continue;
    if (listed.items.size() == size_of(page)) {
      listed.next = key_of(listed.items.back().attachment);
      return;
    }
    listed.items.push_back(binding);
  }
}

fabricapi::Node to_node(const std::string& name, const NodeRecord& node) {
  return {name, node.last_contact_wall, node.bindings, node.guids, node.forgetting};
}

}  // namespace

std::shared_ptr<const std::vector<fabric::PartitionDefinition>> Registry::partitions() const {
  if (partitions_ != nullptr && (partitions_version_ == version_ || !state_readable_))
    return partitions_;
  auto all = std::make_shared<std::vector<fabric::PartitionDefinition>>();
  all->reserve(state_->partitions.size() + 1);
  all->push_back(policy_.default_rule);
  for (const auto& [name, record] : state_->partitions)
    if (!record.deleting()) all->push_back(rendered(record));
  partitions_ = std::move(all);
  partitions_version_ = version_;
  return partitions_;
}

uint64_t Registry::changed_in(ib::Guid guid) const {
  const PortRecord* const port = state_->find_port(guid);
  return port == nullptr ? 0 : port->changed_in;
}

ExpectedTable Registry::expected(ib::Guid guid) const {
  ExpectedTable expected;
  const PortRecord* const port = state_->find_port(guid);
  if (port == nullptr) return expected;
  expected.changed_in = port->changed_in;
  std::set<ib::PKey> keys, leaving;
  for (const auto& [record, member] : port->engine_members) {
    const std::vector<ib::PKey> theirs = keys_of(*record->partition.pkey, member.membership);
    keys.insert(theirs.begin(), theirs.end());
    if (record->partition.index0 && !member.skip_index0) expected.index0 = theirs.front();
  }
  const auto leaves = [&](const PartitionRecord& record, fabric::Membership membership) {
    for (const ib::PKey key : keys_of(*record.partition.pkey, membership))
      if (!keys.contains(key)) leaving.insert(key);
  };
  for (const BindingRecord* const entry : port->bindings)
    for (const fabric::PartitionMembership& membership : entry->pending_removal)
      leaves(*state_->find_partition(membership.partition), membership.membership);
  // Their former membership is not stored.
  for (const PartitionRecord* const record : port->former_member_of)
    leaves(*record, fabric::Membership::both);
  expected.keys.assign(keys.begin(), keys.end());
  expected.pending_removal.assign(leaving.begin(), leaving.end());
  return expected;
}

const std::set<ib::Guid>& Registry::unsettled() const { return state_->unsettled; }

Result<Binding> Registry::binding(const Caller& caller,
                                  const fabric::Attachment& attachment) const {
  TRY(api::authorize(caller, api::Call::get_binding, attachment.node));
  const auto found = state_->bindings.find(attachment);
  if (found != state_->bindings.end()) return found->second.binding;
  return Error(Code::not_found, "there is no binding of " + text(attachment));
}

Result<ListPage<Binding>> Registry::bindings(const Caller& caller, const BindingFilter& filter,
                                             const PageRequest& page) const {
  TRY(api::authorize(caller, api::Call::list_bindings, filter.node));
  fabric::Attachment after{filter.node, "", ""};
  if (!page.token.empty()) {
    const fabric::Attachment last = TRY(attachment_of(page.token).during("page token"));
    after = std::max(after, last);
  }
  ListPage<Binding> listed;
  const PartitionRecord* const record = state_->find_partition(filter.partition);
  if (!filter.partition.empty() && record == nullptr) return listed;
  if (record != nullptr) {
    list(
        record->bindings.upper_bound(after), record->bindings.end(),
        [](const BindingRecord* entry) -> const BindingRecord& { return *entry; }, filter, page,
        listed);
  } else {
    list(
        state_->bindings.upper_bound(after), state_->bindings.end(),
        [](const auto& entry) -> const BindingRecord& { return entry.second; }, filter, page,
        listed);
  }
  return listed;
}

std::vector<Binding> Registry::bindings_of(ib::Guid guid) const {
  std::vector<Binding> found;
  if (const PortRecord* const port = state_->find_port(guid))
    for (const BindingRecord* const entry : port->bindings) found.push_back(entry->binding);
  return found;
}

std::vector<const Binding*> Registry::bindings_on(ib::Guid guid) const {
  std::vector<const Binding*> found;
  if (const PortRecord* const port = state_->find_port(guid))
    for (const BindingRecord* const entry : port->bindings) found.push_back(&entry->binding);
  return found;
}

std::vector<ib::Guid> Registry::ports_of(const std::string& node) const {
  std::vector<ib::Guid> ports;
  for (auto at = state_->bindings.lower_bound({node, "", ""});
       at != state_->bindings.end() && at->first.node == node; ++at)
    ports.push_back(at->second.binding.guid);
  return ports;
}

PortOwner Registry::owner_of(ib::Guid guid, const std::string& node) const {
  if (const PortRecord* const port = state_->find_port(guid))
    for (const BindingRecord* const entry : port->bindings)
      if (entry->binding.attachment.node == node) return PortOwner::this_node;
  return port_owner(*state_, policy_, guid, node);
}

std::optional<fabric::PartitionStatus> Registry::partition(const std::string& name) const {
  const PartitionRecord* const record = state_->find_partition(name);
  if (record == nullptr) return std::nullopt;
  return status(*record);
}

bool Registry::uses_index0(const std::string& name) const {
  const PartitionRecord* const record = state_->find_partition(name);
  return record != nullptr && record->partition.index0;
}

Result<ListPage<fabric::PartitionStatus>> Registry::partitions(const Caller& caller,
                                                               const PageRequest& page) const {
  TRY(api::authorize(caller, api::Call::list_partitions));
  ListPage<fabric::PartitionStatus> listed;
  for (auto at = state_->partitions.upper_bound(page.token); at != state_->partitions.end(); ++at) {
    if (listed.items.size() == size_of(page)) {
      listed.next = listed.items.back().spec.name;
      break;
    }
    listed.items.push_back(status(at->second));
  }
  return listed;
}

std::vector<Registry::DeletedPartition> Registry::deleted_partitions() const {
  std::vector<DeletedPartition> all;
  for (const auto& [name, record] : state_->partitions)
    if (record.deleting() && record.swept && !record.former_members.empty())
      all.push_back({name,
                     record.delete_began,
                     {record.former_members.begin(), record.former_members.end()}});
  return all;
}

std::vector<fabricapi::Node> Registry::nodes() const {
  std::vector<fabricapi::Node> all;
  for (const auto& [name, node] : state_->nodes) all.push_back(to_node(name, node));
  return all;
}

std::optional<fabricapi::Node> Registry::node(const std::string& name) const {
  const auto found = state_->nodes.find(name);
  if (found == state_->nodes.end()) return std::nullopt;
  return to_node(name, found->second);
}

std::vector<const fabric::Binding*> Registry::releasing() const {
  std::vector<const fabric::Binding*> all;
  for (const auto& [attachment, entry] : state_->bindings)
    if (entry.binding.state == fabric::BindingState::releasing) all.push_back(&entry.binding);
  return all;
}

size_t Registry::size() const { return state_->bindings.size(); }

Registry::Counts Registry::counts() const {
  Counts counts;
  for (const auto& [attachment, entry] : state_->bindings)
    ++counts[{entry.binding.state, entry.binding.condition.reason}];
  return counts;
}

std::vector<fabricapi::BindingChange> Registry::take_changes() {
  std::vector<fabricapi::BindingChange> taken;
  if (!state_readable_) return taken;
  for (auto& [attachment, gone] : changes_) {
    const auto present = state_->bindings.find(attachment);
    if (present != state_->bindings.end())
      taken.push_back({present->second.binding, false});
    else if (gone)
      taken.push_back({*gone, true});
  }
  changes_.clear();
  return taken;
}

}  // namespace ibpod::sm::registry
