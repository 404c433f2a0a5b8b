#include "sm/registry/conflicts.h"

#include "sm/registry/names.h"

#include <set>

namespace ibpod::sm::registry {
namespace {

using fabricapi::Role;

std::string describe_holder(const fabricapi::Caller& caller, const fabric::Binding& binding) {
  if (caller.role != Role::administrator && caller.node != binding.attachment.node)
    return "a pod of another node";
  std::string holder = text(binding.attachment);
  if (!binding.pod.name.empty())
    holder += " of pod " + binding.pod.name_space + "/" + binding.pod.name;
  return holder + ", which is " + std::string(name(binding.state));
}

Error two_memberships(const fabric::PartitionMembership& desired, fabric::Membership found,
                      Code code, const std::string& by) {
  return {code, "partition " + desired.partition + ": membership " +
                    std::string(name(desired.membership)) + " requested, but " + by + " has " +
                    std::string(name(found))};
}

// The memberships that the binding has or will have.
Memberships present_memberships(const BindingRecord& entry) {
  return entry.binding.state == fabric::BindingState::releasing ? Memberships{}
                                                                : entry.binding.desired;
}

void add_index0(const State& state, const Memberships& memberships, std::set<std::string>& names) {
  for (const fabric::PartitionMembership& requested : memberships) {
    const PartitionRecord* const record = state.find_partition(requested.partition);
    if (record != nullptr && record->partition.index0) names.insert(requested.partition);
  }
}

}  // namespace

Status check_holders(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                     const PortRecord& port, const BindingRecord* except) {
  for (const BindingRecord* const other : port.bindings) {
    if (other == except) continue;
    const fabric::Binding& binding = other->binding;
    const bool children =
        request.kind == fabric::Kind::child && binding.kind == fabric::Kind::child;
    if (children && binding.attachment.node == request.attachment.node) continue;
    return Error(Code::busy, "port " + request.guid.text() + " is bound to " +
                                 describe_holder(caller, binding));
  }
  return ok();
}

Status check_memberships(const PortRecord& port, const Memberships& memberships,
                         const BindingRecord* except) {
  for (const fabric::PartitionMembership& requested : memberships) {
    for (const auto& [record, membership] : port.members)
      if (record->partition.name == requested.partition && membership != requested.membership)
        return two_memberships(requested, membership, Code::invalid, "its static member");
    for (const BindingRecord* const other : port.bindings) {
      if (other == except) continue;
      for (const fabric::PartitionMembership& theirs : all_memberships(*other))
        if (theirs.partition == requested.partition && theirs.membership != requested.membership)
          return two_memberships(requested, theirs.membership, Code::busy,
                                 "the binding of " + text(other->binding.attachment));
    }
  }
  return ok();
}

std::set<std::string> index0_of(const State& state, ib::Guid guid, const BindingRecord* except) {
  std::set<std::string> names;
  const PortRecord* const port = state.find_port(guid);
  if (port == nullptr) return names;
  for (const auto& [record, membership] : port->members)
    if (record->partition.index0) names.insert(record->partition.name);
  for (const BindingRecord* const entry : port->bindings)
    if (entry != except && !is_child(entry->binding))
      add_index0(state, present_memberships(*entry), names);
  return names;
}

Status check_index0(const State& state, const fabricapi::BindRequest& request,
                    const Memberships& memberships, const BindingRecord* except) {
  if (request.kind == fabric::Kind::child) return ok();
  std::set<std::string> names;
  add_index0(state, memberships, names);
  if (names.size() > 1)
    return Error(Code::invalid, "partitions " + *names.begin() + " and " + *names.rbegin() +
                                    " both need index 0 of the port's P_Key table; request only "
                                    "one of them");
  names.merge(index0_of(state, request.guid, except));
  if (names.size() < 2) return ok();
  return Error(Code::busy, "port " + request.guid.text() +
                               ": more than one of its partitions needs index 0 of its P_Key "
                               "table; request a partition without index0");
}

size_t entries_needed_at(const State& state, ib::Guid guid, const Memberships& memberships,
                         const BindingRecord* except) {
  std::set<fabric::PartitionMembership> keys(memberships.begin(), memberships.end());
  const PortRecord* const port = state.find_port(guid);
  if (port != nullptr) {
    for (const auto& [record, membership] : port->members)
      keys.insert({record->partition.name, membership});
    for (const BindingRecord* const entry : port->bindings) {
      if (entry == except) continue;
      const Memberships theirs = all_memberships(*entry);
      keys.insert(theirs.begin(), theirs.end());
    }
  }
  size_t needed = 0;
  for (const fabric::PartitionMembership& key : keys) needed += entries_needed(key.membership);
  return needed;
}

}  // namespace ibpod::sm::registry
