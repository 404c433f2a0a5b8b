#include "sm/bindings/conflicts.h"

#include "sm/state/names.h"

#include <set>

namespace ibpod::sm::bindings {
namespace {

using fabricapi::Role;
using state::BindingRecord;
using state::Memberships;
using state::PortRecord;
using state::Records;

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

size_t entries_needed_at(const Records& records, ib::Guid guid, const Memberships& memberships,
                         const BindingRecord* except) {
  std::set<fabric::PartitionMembership> keys(memberships.begin(), memberships.end());
  const PortRecord* const port = records.find_port(guid);
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
  for (const fabric::PartitionMembership& key : keys)
    needed += state::entries_needed(key.membership);
  return needed;
}

}  // namespace ibpod::sm::bindings
