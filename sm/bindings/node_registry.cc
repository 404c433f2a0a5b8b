#include "sm/bindings/node_registry.h"

#include "lib/fabric/cluster_names.h"
#include "sm/bindings/lifecycle.h"
#include "sm/state/names.h"

#include <algorithm>

namespace ibpod::sm::bindings {
namespace {

using fabric::Reason;
using fabricapi::AllocatedGuid;
using fabricapi::AllocateRequest;
using fabricapi::SyncAnswer;
using fabricapi::SyncRequest;
using state::BindingRecord;
using state::BootIdTracker;
using state::NodeRecord;
using state::Now;
using state::PortRecord;
using state::State;
using state::Steady;

constexpr Duration kLeastLease{3000};  // in an answer: an agent calls three times per lease

// All bindings of a node, in order. The result stays valid for the others if one is removed.
std::vector<BindingRecord*> entries_of(State& state, const std::string& node) {
  std::vector<BindingRecord*> found;
  const auto& all = state.records().bindings;
  for (auto at = all.lower_bound({node, "", ""}); at != all.end() && at->first.node == node; ++at)
    found.push_back(state.find_binding(at->first));
  return found;
}

v1::FabricNode to_message(const std::string& name, const NodeRecord& node) {
  v1::FabricNode message;
  message.set_name(name);
  if (node.last_contact_wall)
    message.set_last_sync(node.last_contact_wall->time_since_epoch().count());
  message.set_bindings(node.bindings);
  message.set_guids(node.guids);
  message.set_forgetting(node.forgetting);
  return message;
}

}  // namespace

Status check_known_cluster(const state::Journal& journal, const std::string& name) {
  const auto& nodes = journal.records().nodes;
  const std::string before = std::string(fabric::cluster_of(name)) + "/";
  const auto node = nodes.lower_bound(before);
  if (node != nodes.end() && node->first.starts_with(before)) return ok();
  return fabric::check_cluster(journal.policy().clusters, name);
}

Status check_known_node(const state::Journal& journal, const std::string& node) {
  TRY(fabric::check_cluster(journal.policy().clusters, node).during("node"));
  if (journal.records().nodes.contains(node) ||
      journal.records().nodes.size() < journal.policy().limits.nodes)
    return ok();
  return Error(Code::busy,
               "node limit reached (" + std::to_string(journal.policy().limits.nodes) + ")");
}

Result<SyncAnswer> NodeRegistry::sync(const SyncRequest& request, Now now) {
  TRY(journal_.check_readable());
  TRY(check_known_node(journal_, request.node));
  const BootIdResult machine = TRY(note_boot_id(request, now));
  note_contact(request.node, now);
  std::set<std::pair<std::string, std::string>> named;
  for (const SyncRequest::AttachmentId& present : request.attachments)
    named.emplace(present.container, present.interface);

  SyncAnswer answer;
  answer.lease = policy().lease;
  if (machine.ask_again)
    answer.lease = std::clamp(std::chrono::ceil<Duration>(3 * *machine.ask_again), kLeastLease,
                              std::max(policy().lease, kLeastLease));
  answer.unknown = unknown_ports(request, records(), policy());
  for (BindingRecord* const entry : entries_of(journal_.state(), request.node)) {
    const fabric::Attachment& attachment = entry->binding.attachment;
    if (named.erase({attachment.container, attachment.interface}) != 0) {
      renew(journal_, *entry, now);
      answer.bindings.push_back(entry->binding);
      continue;
    }
    if (!machine.ends_missing) continue;
    note_missing(journal_, *entry, now);
    answer.not_named.push_back(entry->binding);
  }
  for (const auto& [container, interface] : named)
    answer.not_bound.push_back({container, interface});
  return answer;
}

Result<std::vector<AllocatedGuid>> NodeRegistry::allocate(const AllocateRequest& request) {
  TRY(journal_.check_readable());
  TRY(check_known_node(journal_, request.node));
  if (!policy().guids.can_assign())
    return Error(Code::unsupported,
                 "no range of \"guids\" in ibpod-sm's configuration is for VFs; add one without "
                 "\"chosenBy\"");
  const auto node = records().nodes.find(request.node);
  if (node != records().nodes.end() && node->second.forgetting)
    return Error(Code::unavailable, "node " + request.node + " is being forgotten");
  return assign_guid(request);
}

// `fresh`: GUIDs that the same request has already assigned.
Result<ib::Guid> NodeRegistry::next_guid(const std::set<ib::Guid>& fresh) const {
  std::optional<ib::Guid> last = fresh.empty() ? records().guids.last : *fresh.rbegin();
  const size_t tries = policy().guids_of_nodes.size() + fresh.size() + 1;
  for (size_t i = 0; i < tries; ++i) {
    last = TRY(policy().guids.next(records().guids.in_use, last));
    if (!policy().guids_of_nodes.contains(*last) && !fresh.contains(*last)) return *last;
  }
  return Error(Code::busy,
               "no GUID is free in the pool; add a range to \"guids\" in ibpod-sm's configuration");
}

Result<std::vector<AllocatedGuid>> NodeRegistry::assign_guid(const AllocateRequest& request) {
  const std::set<uint32_t> vfs(request.vfs.begin(), request.vfs.end());
  const auto of_node = records().nodes.find(request.node);
  size_t guids = of_node == records().nodes.end() ? 0 : of_node->second.guids;
  std::vector<AllocatedGuid> answer;
  std::set<ib::Guid> fresh;
  ib::Guid last;
  for (const uint32_t vf : vfs) {
    const auto present = records().guids.by_vf.find({request.node, request.pf, vf});
    if (present != records().guids.by_vf.end()) {
      answer.push_back({vf, present->second});
      continue;
    }
    if (++guids > policy().limits.guids_of_node)
      return Error(Code::busy, "GUID limit of node " + request.node + " reached (" +
                                   std::to_string(policy().limits.guids_of_node) + ")");
    last = TRY(next_guid(fresh));
    fresh.insert(last);
    answer.push_back({vf, last});
  }
  if (fresh.empty()) return answer;
  for (const AllocatedGuid& one : answer) {
    if (!fresh.contains(one.guid)) continue;
    journal_.state().assign_guid(one.guid, {request.node, request.pf, one.vf});
    journal_.staged().add(state::RecordKind::guid, one.guid.text());
  }
  journal_.state().set_last_guid(last);
  journal_.staged().add(state::RecordKind::range, "guids");
  return answer;
}

void NodeRegistry::note_contact(const std::string& node, Now now) {
  if (records().find_node(node) == nullptr) return;
  NodeRecord& record = journal_.state().node(node);
  record.last_contact = now.steady;
  record.last_contact_wall = now.wall;
}

// Forgetting a live node would take its pods' partitions, and could give its GUIDs to a second
// port.
Status NodeRegistry::check_silent(const std::string& name, const NodeRecord& node, Now now) const {
  if (node.forgetting || (node.bindings == 0 && node.guids == 0)) return ok();
  const Steady heard = node.last_contact.value_or(journal_.loaded());
  if (now.steady - heard >= policy().lease) return ok();
  const auto seconds = [](auto time) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
  };
  const std::string why =
      node.last_contact ? " is alive: its last call was " + seconds(now.steady - heard) + " ago"
                        : " may be alive: ibpod-sm started " + seconds(now.steady - heard) +
                              " ago and has had no call from it yet";
  return Error(
      Code::busy,
      "node " + name + why + ". Forgetting it would take its " + std::to_string(node.bindings) +
          " bindings from pods that may be running, and assign its " + std::to_string(node.guids) +
          " GUIDs to other nodes while its VFs still have them. Drain the node, stop its "
          "agent, and try again in " +
          seconds(heard + policy().lease - now.steady) +
          "; or use --force now if its devices are not in use");
}

Result<v1::FabricNode> NodeRegistry::forget(const fabricapi::ForgetRequest& request, Now now) {
  TRY(journal_.check_readable());
  const std::string& node = request.node;
  const auto found = records().nodes.find(node);
  if (found == records().nodes.end())
    return Error(Code::not_found, "there is no node " + node.substr(0, 253));
  if (!request.force) TRY(check_silent(node, found->second, now));
  journal_.state().node(node).forgetting = true;
  journal_.staged().add(state::RecordKind::node, node);
  for (BindingRecord* const entry : entries_of(journal_.state(), node))
    release(journal_, *entry, {Reason::waiting, ""}, now);
  v1::FabricNode forgotten = *find(node);
  journal_.remove_if_forgotten(node);
  if (!records().nodes.contains(node)) forgotten.set_guids(0);
  return forgotten;
}

// After a reboot, missing attachments do not end until the machine with the former boot ID has been
// silent long enough to be the same one. The same holds while two machines are alive.
Result<NodeRegistry::BootIdResult> NodeRegistry::note_boot_id(const fabricapi::SyncRequest& request,
                                                              Now now) {
  BootIdTracker& machine = journal_.state().node(request.node).boot_ids;
  if (request.boot.empty()) return BootIdResult{};  // an older agent
  const BootIdTracker::Limits limits = boot_id_limits();
  switch (machine.note(request.boot, now.steady, limits)) {
    case BootIdTracker::Relation::same:
      return BootIdResult{.ends_missing = !machine.has_duplicate(now.steady, limits),
                          .ask_again = {}};
    case BootIdTracker::Relation::another:
      return BootIdResult{.ends_missing = false,
                          .ask_again = machine.silence_left(now.steady, limits)};
    case BootIdTracker::Relation::intruding:
      break;
  }
  return Error(
      Code::denied,
      "two machines use the name of node " + request.node +
          ", and the other one was first; give each machine its own node name and "
          "certificate. ibpod-sm accepts this machine when the other has sent no Sync for " +
          std::to_string(std::chrono::ceil<std::chrono::seconds>(limits.lease).count()) + " s");
}

// Three Syncs come per lease; one may be late.
BootIdTracker::Limits NodeRegistry::boot_id_limits() const {
  return {.silence = policy().lease * 2 / 3, .lease = policy().lease};
}

std::vector<std::string> NodeRegistry::duplicates(Now now) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : records().nodes)
    if (node.boot_ids.has_duplicate(now.steady, boot_id_limits())) names.push_back(name);
  return names;
}

PortOwner NodeRegistry::owner_of(ib::Guid guid, const std::string& node) const {
  if (const PortRecord* const port = records().find_port(guid))
    for (const BindingRecord* const entry : port->bindings)
      if (entry->binding.attachment.node == node) return PortOwner::this_node;
  return port_owner(records(), policy(), guid, node);
}

v1::ListNodesResponse NodeRegistry::list() const {
  v1::ListNodesResponse all;
  for (const auto& [name, node] : records().nodes) *all.add_nodes() = to_message(name, node);
  return all;
}

std::optional<v1::FabricNode> NodeRegistry::find(const std::string& name) const {
  const auto found = records().nodes.find(name);
  if (found == records().nodes.end()) return std::nullopt;
  return to_message(name, found->second);
}

}  // namespace ibpod::sm::bindings
