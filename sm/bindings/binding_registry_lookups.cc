// The lookups of BindingRegistry.
#include "sm/bindings/binding_registry.h"
#include "sm/bindings/node_registry.h"
#include "sm/state/names.h"

#include <algorithm>

namespace ibpod::sm::bindings {
namespace {

using fabric::Binding;
using fabricapi::BindingFilter;
using fabricapi::ListPage;
using fabricapi::PageRequest;
using state::BindingRecord;
using state::PartitionRecord;
using state::PortRecord;

// Adds matching bindings from `at` on, and sets the token of the next page.
template <typename Iterator, typename EntryOf>
void add_matching(Iterator at, Iterator end, const EntryOf& entry_of, const BindingFilter& filter,
                  const PageRequest& page, ListPage<Binding>& listed) {
  for (; at != end; ++at) {
    const Binding& binding = entry_of(*at).binding;
    if (!filter.node.empty() && binding.attachment.node > filter.node) return;
    if (!fabricapi::matches(filter, binding)) continue;
    if (listed.items.size() == state::size_of(page)) {
      listed.next = state::key_of(listed.items.back().attachment);
      return;
    }
    listed.items.push_back(binding);
  }
}

}  // namespace

uint64_t BindingRegistry::changed_in(ib::Guid guid) const {
  const PortRecord* const port = records().find_port(guid);
  return port == nullptr ? 0 : port->changed_in;
}

bool BindingRegistry::is_being_forgotten(const std::string& node) const {
  const state::NodeRecord* const record = records().find_node(node);
  return record != nullptr && record->forgetting;
}

const std::set<ib::Guid>& BindingRegistry::unsettled() const { return records().unsettled; }

Result<Binding> BindingRegistry::binding(const fabric::Attachment& attachment) const {
  if (const BindingRecord* const found = records().find_binding(attachment)) return found->binding;
  return Error(Code::not_found, "there is no binding of " + text(attachment));
}

Result<ListPage<Binding>> BindingRegistry::list(const BindingFilter& filter,
                                                const PageRequest& page) const {
  TRY(check_known_cluster(journal_, filter.node).during("node"));
  TRY(check_known_cluster(journal_, filter.name_space).during("namespace"));
  fabric::Attachment after{filter.node, "", ""};
  if (!page.token.empty()) {
    const fabric::Attachment last = TRY(state::attachment_of(page.token).during("page token"));
    after = std::max(after, last);
  }
  ListPage<Binding> listed;
  const PartitionRecord* const record = records().find_partition(filter.partition);
  if (!filter.partition.empty() && record == nullptr) return listed;
  if (record != nullptr) {
    add_matching(
        record->bindings.upper_bound(after), record->bindings.end(),
        [](const BindingRecord* entry) -> const BindingRecord& { return *entry; }, filter, page,
        listed);
  } else {
    add_matching(
        records().bindings.upper_bound(after), records().bindings.end(),
        [](const auto& entry) -> const BindingRecord& { return entry.second; }, filter, page,
        listed);
  }
  return listed;
}

std::vector<const Binding*> BindingRegistry::bindings_on(ib::Guid guid) const {
  std::vector<const Binding*> found;
  if (const PortRecord* const port = records().find_port(guid))
    for (const BindingRecord* const entry : port->bindings) found.push_back(&entry->binding);
  return found;
}

std::vector<ib::Guid> BindingRegistry::ports_of(const std::string& node) const {
  std::vector<ib::Guid> ports;
  for (auto at = records().bindings.lower_bound({node, "", ""});
       at != records().bindings.end() && at->first.node == node; ++at)
    ports.push_back(at->second.binding.guid);
  return ports;
}

std::vector<const fabric::Binding*> BindingRegistry::releasing() const {
  std::vector<const fabric::Binding*> all;
  for (const auto& [attachment, entry] : records().bindings)
    if (entry.binding.state == fabric::BindingState::releasing) all.push_back(&entry.binding);
  return all;
}

BindingRegistry::Counts BindingRegistry::counts() const {
  Counts counts;
  for (const auto& [attachment, entry] : records().bindings)
    ++counts[{entry.binding.state, entry.binding.condition.reason}];
  return counts;
}

}  // namespace ibpod::sm::bindings
