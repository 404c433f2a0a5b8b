#include "sm/registry/conflicts.h"

#include "sm/registry/names.h"

#include <set>

namespace ibpod::sm {
namespace {

using fabricapi::Role;

std::string holder(const fabricapi::Caller& caller, const fabric::Binding& binding) {
  if (caller.role != Role::administrator && caller.node != binding.attachment.node)
    return "a pod of another node";
  std::string who = text(binding.attachment);
  if (!binding.pod.name.empty())
    who += " of pod " + binding.pod.name_space + "/" + binding.pod.name;
  return who + ", which is " + std::string(name(binding.state));
}

Error two_memberships(const fabric::Share& wanted, fabric::Membership found, Code code,
                      const std::string& by) {
  return {code, "it is to be " + std::string(name(wanted.membership)) + " in partition " +
                    wanted.partition + ", and is " + std::string(name(found)) + " there by " + by};
}

// What an entry is told, or is to be told, to have.
Shares present_shares(const Entry& entry) {
  return entry.binding.state == fabric::State::releasing ? Shares{} : entry.binding.shares;
}

void add_index0(const Book& book, const Shares& shares, std::set<std::string>& names) {
  for (const fabric::Share& share : shares) {
    const Tenant* const tenant = book.find_tenant(share.partition);
    if (tenant != nullptr && tenant->tenancy.index0) names.insert(share.partition);
  }
}

}  // namespace

Status check_holders(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                     const Port& port, const Entry* except) {
  for (const Entry* const other : port.bindings) {
    if (other == except) continue;
    const fabric::Binding& binding = other->binding;
    const bool children =
        request.kind == fabric::Kind::child && binding.kind == fabric::Kind::child;
    if (children && binding.attachment.node == request.attachment.node) continue;
    return Error(Code::busy,
                 "port " + request.guid.text() + " is bound to " + holder(caller, binding));
  }
  return ok();
}

Status check_memberships(const Port& port, const Shares& shares, const Entry* except) {
  for (const fabric::Share& share : shares) {
    for (const auto& [tenant, membership] : port.members)
      if (tenant->tenancy.name == share.partition && membership != share.membership)
        return two_memberships(share, membership, Code::invalid, "its administrator");
    for (const Entry* const other : port.bindings) {
      if (other == except) continue;
      for (const fabric::Share& theirs : all_shares(*other))
        if (theirs.partition == share.partition && theirs.membership != share.membership)
          return two_memberships(share, theirs.membership, Code::busy,
                                 text(other->binding.attachment));
    }
  }
  return ok();
}

std::set<std::string> index0_of(const Book& book, ib::Guid guid, const Entry* except) {
  std::set<std::string> names;
  const Port* const port = book.find_port(guid);
  if (port == nullptr) return names;
  for (const auto& [tenant, membership] : port->members)
    if (tenant->tenancy.index0) names.insert(tenant->tenancy.name);
  for (const Entry* const entry : port->bindings)
    if (entry != except && !is_child(entry->binding))
      add_index0(book, present_shares(*entry), names);
  return names;
}

Status check_index0(const Book& book, const fabricapi::BindRequest& request, const Shares& shares,
                    const Entry* except) {
  if (request.kind == fabric::Kind::child) return ok();
  std::set<std::string> names;
  add_index0(book, shares, names);
  if (names.size() > 1)
    return Error(Code::invalid, "partitions " + *names.begin() + " and " + *names.rbegin() +
                                    " both want index 0 of the port's table: ask for one of them");
  names.merge(index0_of(book, request.guid, except));
  if (names.size() < 2) return ok();
  return Error(Code::busy, "of the partitions of port " + request.guid.text() +
                               " more than one wants index 0 of its table");
}

size_t places_needed(const Book& book, ib::Guid guid, const Shares& shares, const Entry* except) {
  std::set<fabric::Share> keys(shares.begin(), shares.end());
  const Port* const port = book.find_port(guid);
  if (port != nullptr) {
    for (const auto& [tenant, membership] : port->members)
      keys.insert({tenant->tenancy.name, membership});
    for (const Entry* const entry : port->bindings) {
      if (entry == except) continue;
      const Shares theirs = all_shares(*entry);
      keys.insert(theirs.begin(), theirs.end());
    }
  }
  size_t needed = 0;
  for (const fabric::Share& key : keys) needed += places(key.membership);
  return needed;
}

}  // namespace ibpod::sm
