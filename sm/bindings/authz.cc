#include "sm/bindings/authz.h"

#include <algorithm>

namespace ibpod::sm::bindings {
namespace {

using fabricapi::Caller;
using fabricapi::Role;
using state::PartitionRecord;
using state::Policy;
using state::PortRecord;
using state::Records;

const Policy::NodePorts* given_to(const Policy& policy, const std::string& node) {
  const auto found = policy.nodes.find(node);
  return found == policy.nodes.end() ? nullptr : &found->second;
}

bool is_vf_of(const Records& records, const Policy& policy, ib::Guid guid,
              const std::string& node) {
  const auto place = records.guids.assigned.find(guid);
  if (place != records.guids.assigned.end()) return place->second.node == node;
  const Policy::NodePorts* const given = given_to(policy, node);
  return given != nullptr && given->guids.contains(guid);
}

bool is_pf_of(const Records& records, const Policy& policy, ib::Guid guid,
              const std::string& node) {
  const Policy::NodePorts* const given = given_to(policy, node);
  if (given != nullptr && given->pfs.contains(guid)) return true;
  const auto claim = records.guids.claims.find(guid);
  return claim != records.guids.claims.end() && claim->second == node;
}

// True if the configuration assigns the GUID to a node.
bool is_assigned(const Policy& policy, ib::Guid guid) {
  return policy.guids_of_nodes.contains(guid);
}

// True if no node, pod or machine outside Kubernetes has the GUID.
bool is_unassigned(const Records& records, const Policy& policy, ib::Guid guid) {
  return !records.guids.in_use.contains(guid) && !policy.guids.contains(guid) &&
         !is_assigned(policy, guid);
}

// The GUID must be in a range for the pod's namespace and have no other owner: with former ranges
// it may have been assigned to a VF.
Status may_request_guid(const Records& records, const Policy& policy,
                        const fabricapi::BindRequest& request) {
  const ib::Guid guid = request.guid;
  if (!policy.guids.allows_request(guid, request.pod.name_space))
    return Error(Code::denied, "GUID " + guid.text() +
                                   " cannot be requested by pods of namespace " +
                                   request.pod.name_space +
                                   ": no range of \"guids\" in ibpod-sm's configuration has the "
                                   "namespace in \"chosenBy\"");
  const PortRecord* const port = records.find_port(guid);
  const bool member =
      port != nullptr && (!port->members.empty() || !port->former_member_of.empty());
  if (!member && !is_assigned(policy, guid) && !records.guids.assigned.contains(guid) &&
      !records.guids.claims.contains(guid))
    return ok();
  return Error(Code::denied, "GUID " + guid.text() + " cannot be requested: it is already in use");
}

Status may_claim(const Records& records, const Policy& policy, ib::Guid guid,
                 const std::string& node) {
  const Error refusal(Code::denied, "port " + guid.text() + " is not known as a PF of node " +
                                        node + "; add it to nodes." + node +
                                        ".pfs in ibpod-sm's configuration");
  if (!policy.pfs_by_first_claim || !is_unassigned(records, policy, guid)) return refusal;
  const auto found = records.nodes.find(node);
  if (found == records.nodes.end() || found->second.pfs.size() < policy.limits.pfs_of_node)
    return ok();
  return Error(Code::denied, "PF limit of node " + node + " reached (" +
                                 std::to_string(policy.limits.pfs_of_node) +
                                 "); add the PFs that it needs to nodes." + node +
                                 ".pfs in ibpod-sm's configuration");
}

}  // namespace

Status may_join(const Caller& caller, const PartitionRecord* record, const std::string& label,
                const fabricapi::BindRequest& request) {
  const std::string& name_space = request.pod.name_space;
  const std::string& node = request.attachment.node;
  const bool allowed = record != nullptr && fabric::allows(record->partition, name_space);
  const bool on_node = record != nullptr && fabric::allows_node(record->partition, node);
  if (!(allowed && on_node) && caller.role != Role::administrator)
    return Error(Code::denied, "there is no partition " + label + " that pods of namespace " +
                                   name_space + " may be in");
  if (record == nullptr) return Error(Code::not_found, "there is no partition " + label);
  if (!allowed)
    return Error(Code::denied, "partition " + label + " is not open to namespace " + name_space +
                                   "; add the namespace to its \"allowed\"");
  if (!on_node)
    return Error(Code::denied, "partition " + label + " is not open to node " + node +
                                   "; add a pattern that matches the node to its \"nodes\"");
  if (!record->deleting()) return ok();
  return Error(Code::busy, "partition " + label + " is being deleted");
}

Status may_have(const Caller& caller, const fabric::Partition& partition,
                fabric::Membership membership) {
  using fabric::Membership;
  if (caller.role == Role::administrator || membership == Membership::limited ||
      partition.membership != Membership::limited)
    return ok();
  return Error(Code::denied, "partition " + partition.name + ": membership " +
                                 std::string(name(membership)) +
                                 " is not allowed: pods are limited members of this partition; "
                                 "request limited");
}

Status may_use_port(const Caller& caller, const fabricapi::BindRequest& request,
                    const Records& records, const Policy& policy) {
  if (caller.role == Role::administrator) return ok();
  const std::string& node = request.attachment.node;
  if (request.kind == fabric::Kind::child) {
    if (is_pf_of(records, policy, request.guid, node)) return ok();
    return may_claim(records, policy, request.guid, node);
  }
  if (request.guid_requested) return may_request_guid(records, policy, request);
  if (is_vf_of(records, policy, request.guid, node)) return ok();
  return Error(Code::denied, "port " + request.guid.text() + " is not known as a VF of node " +
                                 node + ": ibpod-sm has not assigned its GUID");
}

std::vector<ib::Guid> unknown_ports(const fabricapi::SyncRequest& request, const Records& records,
                                    const Policy& policy) {
  std::vector<ib::Guid> unknown;
  for (const ib::Guid guid : request.vfs) {
    const bool usable =
        policy.guids.allows_any_request() || is_vf_of(records, policy, guid, request.node);
    if (!usable) unknown.push_back(guid);
  }
  for (const ib::Guid guid : request.pfs) {
    const bool usable = is_pf_of(records, policy, guid, request.node) ||
                        may_claim(records, policy, guid, request.node).ok();
    if (!usable) unknown.push_back(guid);
  }
  return unknown;
}

PortOwner port_owner(const Records& records, const Policy& policy, ib::Guid guid,
                     const std::string& node) {
  if (is_vf_of(records, policy, guid, node) || is_pf_of(records, policy, guid, node))
    return PortOwner::this_node;
  const bool given = records.guids.assigned.contains(guid) || records.guids.claims.contains(guid) ||
                     records.find_port(guid) != nullptr || is_assigned(policy, guid);
  return given ? PortOwner::other_node : PortOwner::unassigned;
}

bool claims_pf(const Caller& caller, const fabricapi::BindRequest& request, const Records& records,
               const Policy& policy) {
  return caller.role == Role::node && request.kind == fabric::Kind::child &&
         !is_pf_of(records, policy, request.guid, request.attachment.node);
}

}  // namespace ibpod::sm::bindings
