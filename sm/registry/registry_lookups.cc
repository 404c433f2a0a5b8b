// What the ledger tells.
#include "sm/registry/state.h"
#include "sm/registry/registry.h"
#include "sm/registry/names.h"
#include "sm/registry/authz.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Binding;
using fabricapi::BindingFilter;
using fabricapi::Caller;
using fabricapi::Listed;
using fabricapi::Page;

constexpr uint32_t kMostListed = 1000;

size_t size_of(const Page& page) {
  return page.size == 0 ? kMostListed : std::min(page.size, kMostListed);
}

// Adds what matches, from `at` on; where the page ends, its token.
template <typename Iterator, typename EntryOf>
void list(Iterator at, Iterator end, const EntryOf& entry_of, const BindingFilter& filter,
          const Page& page, Listed<Binding>& listed) {
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

fabricapi::Node told(const std::string& name, const NodeEntry& node) {
  return {name, node.last_heard, node.bindings, node.guids, node.forgetting};
}

}  // namespace

std::shared_ptr<const std::vector<fabric::Partition>> Ledger::partitions() const {
  if (partitions_ != nullptr && (partitions_version_ == version_ || !readable_)) return partitions_;
  auto all = std::make_shared<std::vector<fabric::Partition>>();
  all->reserve(book_->tenants.size() + 1);
  all->push_back(policy_.default_rule);
  for (const auto& [name, tenant] : book_->tenants)
    if (!tenant.deleting()) all->push_back(as_told(tenant));
  partitions_ = std::move(all);
  partitions_version_ = version_;
  return partitions_;
}

uint64_t Ledger::changed_in(ib::Guid guid) const {
  const Port* const port = book_->find_port(guid);
  return port == nullptr ? 0 : port->changed_in;
}

Expected Ledger::expected(ib::Guid guid) const {
  Expected expected;
  const Port* const port = book_->find_port(guid);
  if (port == nullptr) return expected;
  expected.changed_in = port->changed_in;
  std::set<ib::PKey> keys, leaving;
  for (const auto& [tenant, told] : port->told) {
    const std::vector<ib::PKey> theirs = keys_of(*tenant->tenancy.pkey, told.membership);
    keys.insert(theirs.begin(), theirs.end());
    if (tenant->tenancy.index0 && !told.keeps_index0) expected.index0 = theirs.front();
  }
  const auto leaves = [&](const Tenant& tenant, fabric::Membership membership) {
    for (const ib::PKey key : keys_of(*tenant.tenancy.pkey, membership))
      if (!keys.contains(key)) leaving.insert(key);
  };
  for (const Entry* const entry : port->bindings)
    for (const fabric::Share& share : entry->former)
      leaves(*book_->find_tenant(share.partition), share.membership);
  // As what they were members is not kept.
  for (const Tenant* const tenant : port->leaving) leaves(*tenant, fabric::Membership::both);
  expected.keys.assign(keys.begin(), keys.end());
  expected.leaving.assign(leaving.begin(), leaving.end());
  return expected;
}

const std::set<ib::Guid>& Ledger::unsettled() const { return book_->unsettled; }

Result<Binding> Ledger::binding(const Caller& caller, const fabric::Attachment& attachment) const {
  TRY(check(attachment));
  if (!may_see(caller, attachment.node))
    return Error(Code::denied, "node " + caller.node + " may not ask for another node's bindings");
  const auto found = book_->bindings.find(attachment);
  if (found != book_->bindings.end()) return found->second.binding;
  return Error(Code::not_found, "there is no binding of " + text(attachment));
}

Result<Listed<Binding>> Ledger::bindings(const Caller& caller, const BindingFilter& asked,
                                         const Page& page) const {
  BindingFilter filter = asked;
  if (filter.node.empty() && caller.role == fabricapi::Role::node) filter.node = caller.node;
  if (!may_see(caller, filter.node))
    return Error(Code::denied, "node " + caller.node + " may not ask for another node's bindings");
  fabric::Attachment after{filter.node, "", ""};
  if (!page.token.empty()) {
    const fabric::Attachment last = TRY(attachment_of(page.token).during("page token"));
    after = std::max(after, last);
  }
  Listed<Binding> listed;
  const Tenant* const tenant = book_->find_tenant(filter.partition);
  if (!filter.partition.empty() && tenant == nullptr) return listed;
  if (tenant != nullptr) {
    list(
        tenant->bindings.upper_bound(after), tenant->bindings.end(),
        [](const Entry* entry) -> const Entry& { return *entry; }, filter, page, listed);
  } else {
    list(
        book_->bindings.upper_bound(after), book_->bindings.end(),
        [](const auto& entry) -> const Entry& { return entry.second; }, filter, page, listed);
  }
  return listed;
}

std::vector<Binding> Ledger::bindings_of(ib::Guid guid) const {
  std::vector<Binding> found;
  if (const Port* const port = book_->find_port(guid))
    for (const Entry* const entry : port->bindings) found.push_back(entry->binding);
  return found;
}

std::vector<const Binding*> Ledger::bindings_on(ib::Guid guid) const {
  std::vector<const Binding*> found;
  if (const Port* const port = book_->find_port(guid))
    for (const Entry* const entry : port->bindings) found.push_back(&entry->binding);
  return found;
}

std::vector<ib::Guid> Ledger::ports_of(const std::string& node) const {
  std::vector<ib::Guid> ports;
  for (auto at = book_->bindings.lower_bound({node, "", ""});
       at != book_->bindings.end() && at->first.node == node; ++at)
    ports.push_back(at->second.binding.guid);
  return ports;
}

Whose Ledger::whose(ib::Guid guid, const std::string& node) const {
  if (const Port* const port = book_->find_port(guid))
    for (const Entry* const entry : port->bindings)
      if (entry->binding.attachment.node == node) return Whose::own;
  return whose_port(*book_, policy_, guid, node);
}

std::optional<fabric::TenancyStatus> Ledger::partition(const std::string& name) const {
  const Tenant* const tenant = book_->find_tenant(name);
  if (tenant == nullptr) return std::nullopt;
  return status(*tenant);
}

bool Ledger::takes_index0(const std::string& name) const {
  const Tenant* const tenant = book_->find_tenant(name);
  return tenant != nullptr && tenant->tenancy.index0;
}

Result<Listed<fabric::TenancyStatus>> Ledger::partitions(const Caller& caller,
                                                         const Page& page) const {
  if (caller.role == fabricapi::Role::node)
    return Error(Code::denied, "a node may not ask which partitions there are");
  Listed<fabric::TenancyStatus> listed;
  for (auto at = book_->tenants.upper_bound(page.token); at != book_->tenants.end(); ++at) {
    if (listed.items.size() == size_of(page)) {
      listed.next = listed.items.back().tenancy.name;
      break;
    }
    listed.items.push_back(status(at->second));
  }
  return listed;
}

std::vector<Ledger::Retired> Ledger::retired() const {
  std::vector<Retired> all;
  for (const auto& [name, tenant] : book_->tenants)
    if (tenant.deleting() && tenant.swept && !tenant.leaving.empty())
      all.push_back({name, tenant.retired, {tenant.leaving.begin(), tenant.leaving.end()}});
  return all;
}

std::vector<fabricapi::Node> Ledger::nodes() const {
  std::vector<fabricapi::Node> all;
  for (const auto& [name, node] : book_->nodes) all.push_back(told(name, node));
  return all;
}

std::optional<fabricapi::Node> Ledger::node(const std::string& name) const {
  const auto found = book_->nodes.find(name);
  if (found == book_->nodes.end()) return std::nullopt;
  return told(name, found->second);
}

std::vector<const fabric::Binding*> Ledger::releasing() const {
  std::vector<const fabric::Binding*> all;
  for (const auto& [attachment, entry] : book_->bindings)
    if (entry.binding.state == fabric::State::releasing) all.push_back(&entry.binding);
  return all;
}

size_t Ledger::size() const { return book_->bindings.size(); }

Ledger::Counts Ledger::counts() const {
  Counts counts;
  for (const auto& [attachment, entry] : book_->bindings)
    ++counts[{entry.binding.state, entry.binding.standing.reason}];
  return counts;
}

std::vector<fabricapi::BindingChange> Ledger::take_changes() {
  std::vector<fabricapi::BindingChange> taken;
  if (!readable_) return taken;
  for (auto& [attachment, gone] : changes_) {
    const auto present = book_->bindings.find(attachment);
    if (present != book_->bindings.end())
      taken.push_back({present->second.binding, false});
    else if (gone)
      taken.push_back({*gone, true});
  }
  changes_.clear();
  return taken;
}

}  // namespace ibpod::sm
