#include "sm/bindings/admission.h"

#include "lib/fabric/cluster_names.h"
#include "sm/bindings/authz.h"
#include "sm/bindings/conflicts.h"
#include "sm/bindings/node_registry.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace ibpod::sm::bindings {
namespace {

using fabric::BindingState;
using fabricapi::BindRequest;
using fabricapi::Caller;
using state::BindingRecord;
using state::Memberships;
using state::NodeRecord;
using state::PartitionRecord;
using state::PortRecord;
using state::Records;

Status check_listed_once(const BindRequest& request) {
  std::set<std::string_view> seen;
  for (const BindRequest::PartitionRequest& wish : request.partitions)
    if (!wish.partition.empty() && !seen.insert(wish.partition).second)
      return Error(Code::invalid, "partition " + wish.partition + " is listed twice");
  return ok();
}

// A node may not speak for pods of another cluster, whatever it says.
Status check_cluster(const BindRequest& request, const fabric::ClusterNames& clusters) {
  const std::string& node = request.attachment.node;
  TRY(fabric::check_cluster(clusters, node).during("attachment.node"));
  const std::string cluster(fabric::cluster_of(node));
  if (fabric::cluster_of(request.pod.name_space) == cluster) return ok();
  return Error(Code::denied,
               "pod.namespace: expected " +
                   (cluster.empty() ? "one of the default cluster" : cluster + "/NAMESPACE") +
                   ", as the node is " + node + ", got " + request.pod.name_space);
}

// Checks fields that depend on each other.
Status check_request(const BindRequest& request, size_t most) {
  if (request.guid_requested && request.kind != fabric::Kind::vf)
    return Error(Code::invalid,
                 "chosen: only a VF can request a GUID; a child has the GUID of its PF");
  if (request.partitions.size() > most)
    return Error(Code::invalid, "partitions: " + std::to_string(request.partitions.size()) +
                                    ", expected at most " + std::to_string(most));
  return check_listed_once(request);
}

Status check_same(const BindRequest& request, const BindingRecord* present) {
  if (present == nullptr) return ok();
  const fabric::Binding& binding = present->binding;
  if (binding.state == BindingState::releasing)
    return Error(Code::busy, "its previous binding is being released");
  const auto refused = [](const std::string& what) {
    return Error(Code::exists, "it is already bound with another " + what + "; unbind it first");
  };
  if (binding.guid != request.guid) return refused("port, " + binding.guid.text());
  if (binding.kind != request.kind) return refused("kind");
  if (binding.device != request.device) return refused("device");
  if (binding.pod != request.pod) return refused("pod");
  return ok();
}

// The partition as the caller named it: the caller may not be allowed to know its real name.
std::string label(const BindRequest::PartitionRequest& wish) {
  return wish.pkey ? wish.pkey->text() : wish.partition;
}

const PartitionRecord* find_requested(const Records& records,
                                      const BindRequest::PartitionRequest& wish) {
  if (!wish.pkey) return records.find_partition(wish.partition);
  const auto found = records.by_pkey.find(wish.pkey->partition());
  return found == records.by_pkey.end() ? nullptr : found->second;
}

// A request, and the facts for its checks.
struct Admission {
  Admission(const state::Journal& a_journal, const Caller& a_caller, const BindRequest& a_request,
            const PortFacts& a_facts)
      : journal(a_journal),
        records(journal.records()),
        policy(journal.policy()),
        caller(a_caller),
        request(a_request),
        facts(a_facts),
        present(records.find_binding(request.attachment)),
        port(records.find_port(request.guid)) {}

  const std::string& node() const { return request.attachment.node; }
  Status name_partitions();
  Status check_use() const;
  Status check_guid_unused() const;
  Status check_never_seen() const;
  Status check_node() const;
  Result<Memberships> memberships() const;
  Status check_conflicts(const Memberships& memberships) const;
  Status check_capacity(const Memberships& memberships) const;
  Status check_size(const Memberships& memberships) const;
  Status check_room() const;

  const state::Journal& journal;
  const Records& records;
  const state::Policy& policy;
  const Caller& caller;
  BindRequest request;
  const PortFacts& facts;
  const BindingRecord* present;  // the attachment's binding; null: none
  const PortRecord* port;
};

// Replaces requested P_Keys by partition names. A missing and a forbidden partition give the same
// denied error, which reveals nothing beyond the request.
Status Admission::name_partitions() {
  for (BindRequest::PartitionRequest& wish : request.partitions) {
    const PartitionRecord* const record = find_requested(records, wish);
    const bool is_in = record != nullptr && present != nullptr &&
                       state::membership_in(present->binding.desired, record->partition.name);
    if (!is_in) TRY(may_join(caller, record, label(wish), request));
    wish.partition = record->partition.name;
  }
  return ok();
}

// A pod keeps the GUID that it has requested, even if the ranges no longer allow it.
Status Admission::check_use() const {
  if (request.guid_requested && present != nullptr) return ok();
  return may_use_port(caller, request, records, policy);
}

// A GUID that a pod requested may still be active on the old VF after its binding is released, or
// on a port that is not known here. It is not granted until a full scan has confirmed that no port
// uses it.
Status Admission::check_guid_unused() const {
  const bool is_bound = port != nullptr && !port->bindings.empty();  // see check_holders()
  if (!request.guid_requested || is_bound) return ok();
  const auto released = records.guids.released.find(request.guid);
  const state::Steady since =
      released == records.guids.released.end() ? state::Steady{} : released->second;
  if (facts.absent_at && *facts.absent_at > since) return ok();
  return Error(Code::busy, "GUID " + request.guid.text() +
                               " may still be in use; retry after the next full scan "
                               "(look.scanSeconds)");
}

// Limits the bindings to GUIDs that no scan has ever found. Scans find every port that exists, but
// a node could invent any number of GUIDs.
Status Admission::check_never_seen() const {
  const size_t most = policy.limits.unseen_of_node;
  const bool is_bound = port != nullptr && !port->bindings.empty();
  if (!facts.never_seen || is_bound || facts.never_seen_of_node() < most) return ok();
  return Error(Code::busy,
               "unseen port limit of node " + node() + " reached (" + std::to_string(most) +
                   "): it has " + std::to_string(facts.never_seen_of_node()) +
                   " bindings on ports that no full scan has found; end pods there, check why "
                   "their ports are not on the subnet, or raise limits.unseenPortsOfNode in "
                   "ibpod-sm's configuration");
}

Status Admission::check_node() const {
  const NodeRecord* const found = records.find_node(node());
  if (found == nullptr || !found->forgetting) return ok();
  return Error(Code::unavailable, "node " + node() + " is being forgotten");
}

// An existing member keeps its membership, even if the partition no longer allows it.
Result<Memberships> Admission::memberships() const {
  Memberships memberships;
  for (const BindRequest::PartitionRequest& wish : request.partitions) {
    const PartitionRecord* const record = records.find_partition(wish.partition);
    std::optional<fabric::Membership> has;
    if (present != nullptr) has = state::membership_in(present->binding.desired, wish.partition);
    const bool stays = has && wish.membership.value_or(*has) == *has;
    if (!stays) TRY(may_join(caller, record, label(wish), request));
    const fabric::Membership membership =
        stays ? *has : wish.membership.value_or(record->partition.membership);
    if (!stays) TRY(may_have(caller, record->partition, membership));
    if (membership == fabric::Membership::both && !policy.unsupported.both.empty())
      return Error(Code::invalid, "partition " + wish.partition + ": membership \"both\" " +
                                      policy.unsupported.both + "; use limited or full");
    memberships.push_back({wish.partition, membership});
  }
  std::sort(memberships.begin(), memberships.end());
  return memberships;
}

Status Admission::check_conflicts(const Memberships& memberships) const {
  if (port == nullptr) return ok();
  TRY(check_holders(caller, request, *port, present));
  return check_memberships(*port, memberships, present).during("port " + request.guid.text());
}

Status Admission::check_capacity(const Memberships& memberships) const {
  const size_t needed =
      facts.capacity.taken + entries_needed_at(records, request.guid, memberships, present);
  const auto check = [&](const std::string& whose, size_t there) {
    if (there == 0 || needed <= there) return ok();
    return Status(Error(Code::busy, "capacity: the P_Key table of " + whose + " is full: it has " +
                                        std::to_string(there) + " entries, and " +
                                        std::to_string(needed) +
                                        " are needed; request fewer partitions for this port"));
  };
  TRY(check("port " + request.guid.text(), facts.capacity.of_port));
  return check("the switch port of port " + request.guid.text(), facts.capacity.of_switch_port);
}

Status Admission::check_room() const {
  TRY(check_known_node(journal, node()));
  if (records.bindings.size() >= policy.limits.bindings)
    return Error(Code::busy,
                 "binding limit reached (" + std::to_string(policy.limits.bindings) + ")");
  const NodeRecord* const found = records.find_node(node());
  if (found == nullptr || found->bindings < policy.limits.bindings_of_node) return ok();
  return Error(Code::busy, "binding limit of node " + node() + " reached (" +
                               std::to_string(policy.limits.bindings_of_node) + ")");
}

// Requests of nodes must not make partitions.conf too large. A request that reduces the number of
// memberships always passes.
Status Admission::check_size(const Memberships& memberships) const {
  const state::RegistryLimits& limits = policy.limits;
  const size_t now = memberships_with(records, request.guid, {}, nullptr);
  const size_t then = memberships_with(records, request.guid, memberships, present);
  if (then <= now) return ok();
  const NodeRecord* const of_node = records.find_node(node());
  const size_t nodes = then - now + (of_node == nullptr ? 0 : of_node->memberships);
  if (nodes > limits.memberships_of_node)
    return Error(Code::busy, "membership limit of node " + node() + " reached (" +
                                 std::to_string(limits.memberships_of_node) + "): it would have " +
                                 std::to_string(nodes) +
                                 " memberships (a port in a partition); end pods there, request "
                                 "fewer partitions, or raise limits.membershipsOfNode in "
                                 "ibpod-sm's configuration");
  const size_t all = then - now + records.membership_count;
  const size_t bytes = (all + records.static_member_count) * fabric::kMostMemberBytes +
                       (records.partitions.size() + 1) * fabric::kMostHeadBytes +
                       facts.manual_bytes;
  if (all <= limits.memberships && bytes <= fabric::kMostBytes) return ok();
  return Error(Code::busy, "membership limit of all nodes reached (" +
                               std::to_string(limits.memberships) + ", and " +
                               std::to_string(fabric::kMostBytes) +
                               " bytes of partitions.conf): there would be " + std::to_string(all) +
                               " memberships (a port in a partition) besides " +
                               std::to_string(records.static_member_count) +
                               " static members; end pods, or remove members from partitions");
}

}  // namespace

// The order matters: an error of a later check may name partitions, pods and nodes that only a
// caller who passes the earlier ones may know of.
Result<Memberships> admit(const state::Journal& journal, const Caller& caller,
                          const BindRequest& request, const PortFacts& facts) {
  const std::string step = "bind " + text(request.attachment);
  TRY(journal.check_readable());
  TRY(check_cluster(request, journal.policy().clusters).during(step));
  TRY(check_request(request, journal.policy().limits.memberships_of_binding));
  Admission one(journal, caller, request, facts);
  // Checks of the caller, the pod and its node, the attachment, and the port.
  TRY(one.name_partitions().during(step));
  TRY(check_listed_once(one.request));  // the partition may be named and also requested by P_Key
  TRY(one.check_node().during(step));
  TRY(check_same(request, one.present).during(step));
  TRY(one.check_use().during(step));
  // Checks against the present subnet.
  TRY(partitions::check_index0_of_others(one.records, one.request, facts.index0));
  TRY(one.check_guid_unused());
  TRY(one.check_never_seen());
  Memberships memberships = TRY(one.memberships().during(step));
  // Checks against other bindings of the port.
  TRY(one.check_conflicts(memberships).during(step));
  TRY(partitions::check_index0(one.records, one.request, memberships, one.present).during(step));
  if (one.present != nullptr && one.present->binding.desired == memberships) return memberships;
  // Checks of capacity: the port's table, partitions.conf, the state.
  TRY(one.check_capacity(memberships).during(step));
  TRY(one.check_size(memberships).during(step));
  if (one.present == nullptr) TRY(one.check_room().during(step));
  return memberships;
}

std::string denied_to_node(const Records& records, const BindRequest& request) {
  for (const BindRequest::PartitionRequest& wish : request.partitions) {
    const PartitionRecord* const record = find_requested(records, wish);
    if (record != nullptr && fabric::allows(record->partition, request.pod.name_space) &&
        !fabric::allows_node(record->partition, request.attachment.node))
      return record->partition.name;
  }
  return "";
}

}  // namespace ibpod::sm::bindings
