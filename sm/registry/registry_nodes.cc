// Nodes: their leases, their GUIDs, and their end.
#include "lib/ib/pci_address.h"
#include "sm/registry/state.h"
#include "sm/registry/registry.h"
#include "sm/registry/names.h"
#include "sm/registry/authz.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Reason;
using fabric::Standing;
using fabric::State;
using fabricapi::Allocated;
using fabricapi::AllocateRequest;
using fabricapi::Caller;
using fabricapi::SyncAnswer;
using fabricapi::SyncRequest;

constexpr Duration kLeastLease{3000};  // of an answer: an agent asks three times in it
constexpr uint32_t kMostVf = 0xffff;   // NumVFs has 16 bits (PCI Express, SR-IOV capability)

Status check(const AllocateRequest& request) {
  TRY(check_node(request.node));
  TRY(ib::PciAddress::parse(request.pf).during("pf"));
  for (const uint32_t vf : request.vfs)
    if (vf > kMostVf) return Error(Code::invalid, "vfs: there is no VF " + std::to_string(vf));
  return ok();
}

// Why a lease's end has come, or is not waited for.
Standing silent(const Entry& entry) {
  return {Reason::lease, "node " + entry.binding.attachment.node + " has not been heard of"};
}
Standing not_named(const Entry& entry) {
  return {Reason::lease, "node " + entry.binding.attachment.node + " has it no longer"};
}

// All bindings of a node, in order. They may go one by one.
std::vector<Entry*> entries_of(Book& book, const std::string& node) {
  std::vector<Entry*> found;
  for (auto at = book.bindings.lower_bound({node, "", ""});
       at != book.bindings.end() && at->first.node == node; ++at)
    found.push_back(&at->second);
  return found;
}

}  // namespace

Status Ledger::check_known(const std::string& node) const {
  if (book_->nodes.contains(node) || book_->nodes.size() < policy_.limits.nodes) return ok();
  return Error(Code::busy, "there are as many nodes as there may be");
}

void Ledger::renew(Entry& entry, Now now) {
  if (entry.binding.state == State::releasing) return;
  book_->renew(entry, now.steady + policy_.lease);
  if (!entry.lost) return;
  entry.lost = false;
  set_state(entry, State::requested, {Reason::waiting, ""}, now);
  book_->settle(entry.binding.guid);
}

Result<SyncAnswer> Ledger::sync(const Caller& caller, const SyncRequest& request, Now now) {
  TRY(usable());
  TRY(check_node(request.node));
  TRY(may_act_for(caller, request.node));
  TRY(check_known(request.node));
  const Speaker speaker = TRY(hear_machine(request, now));
  note_heard(request.node, now);
  std::set<std::pair<std::string, std::string>> named;
  for (const SyncRequest::Present& present : request.attachments)
    named.emplace(present.container, present.interface);

  SyncAnswer answer;
  answer.lease = policy_.lease;
  if (speaker.ask_again)
    answer.lease = std::clamp(std::chrono::ceil<Duration>(3 * *speaker.ask_again), kLeastLease,
                              std::max(policy_.lease, kLeastLease));
  answer.unknown = unknown_ports(request, *book_, policy_);
  for (Entry* const entry : entries_of(*book_, request.node)) {
    const fabric::Attachment& attachment = entry->binding.attachment;
    if (named.erase({attachment.container, attachment.interface}) != 0) {
      renew(*entry, now);
      answer.bindings.push_back(entry->binding);
      continue;
    }
    if (!speaker.ends_unnamed) continue;
    entry->unnamed = true;
    if (entry->lost) lapse(*entry, not_named(*entry), now);
    answer.not_named.push_back(entry->binding);
  }
  for (const auto& [container, interface] : named)
    answer.not_bound.push_back({container, interface});
  return answer;
}

Status Ledger::expire(Now now) {
  TRY(usable());
  while (!book_->leases.empty() && book_->leases.begin()->first <= now.steady) {
    Entry& entry = *book_->leases.begin()->second;
    if (entry.unnamed || policy_.at_end == LeaseEnd::revoke) {
      lapse(entry, entry.unnamed ? not_named(entry) : silent(entry), now);
      continue;
    }
    book_->end_lease(entry);
    entry.lost = true;
    set_state(entry, State::unknown, silent(entry), now);
    book_->settle(entry.binding.guid);
  }
  return ok();
}

void Ledger::lapse(Entry& entry, Standing why, Now now) {
  lapsed_.push_back(entry.binding.attachment);
  release(entry, std::move(why), now);
}

std::vector<fabric::Attachment> Ledger::take_lapsed() { return std::exchange(lapsed_, {}); }

std::optional<Steady> Ledger::next_expiry() const {
  if (book_->leases.empty()) return std::nullopt;
  return book_->leases.begin()->first;
}

Result<std::vector<Allocated>> Ledger::allocate(const Caller& caller,
                                                const AllocateRequest& request) {
  TRY(usable());
  TRY(check(request));
  TRY(may_act_for(caller, request.node));
  TRY(check_known(request.node));
  if (!policy_.guids.gives())
    return Error(Code::unsupported, "no GUIDs are configured to be given away");
  const auto node = book_->nodes.find(request.node);
  if (node != book_->nodes.end() && node->second.forgetting)
    return Error(Code::unavailable, "node " + request.node + " is being forgotten");
  return give(request);
}

// None that is being given in the same request.
Result<ib::Guid> Ledger::next_guid(const std::set<ib::Guid>& fresh) const {
  std::optional<ib::Guid> last = fresh.empty() ? book_->last_guid : *fresh.rbegin();
  const size_t tries = policy_.guids_of_nodes.size() + fresh.size() + 1;
  for (size_t i = 0; i < tries; ++i) {
    last = TRY(policy_.guids.next(book_->named, last));
    if (!policy_.guids_of_nodes.contains(*last) && !fresh.contains(*last)) return *last;
  }
  return Error(Code::busy, "no GUID is free");
}

Result<std::vector<Allocated>> Ledger::give(const AllocateRequest& request) {
  const std::set<uint32_t> vfs(request.vfs.begin(), request.vfs.end());
  const auto of_node = book_->nodes.find(request.node);
  size_t guids = of_node == book_->nodes.end() ? 0 : of_node->second.guids;
  std::vector<Allocated> answer;
  std::set<ib::Guid> fresh;
  ib::Guid last;
  for (const uint32_t vf : vfs) {
    const auto present = book_->by_vf.find({request.node, request.pf, vf});
    if (present != book_->by_vf.end()) {
      answer.push_back({vf, present->second});
      continue;
    }
    if (++guids > policy_.limits.guids_of_node)
      return Error(Code::busy, "node " + request.node + " has as many GUIDs as a node may");
    last = TRY(next_guid(fresh));
    fresh.insert(last);
    answer.push_back({vf, last});
  }
  if (fresh.empty()) return answer;
  for (const Allocated& one : answer) {
    if (!fresh.contains(one.guid)) continue;
    book_->give(one.guid, {request.node, request.pf, one.vf});
    stage(Kind::guid, one.guid.text());
  }
  book_->last_guid = last;
  stage(Kind::range, "guids");
  return answer;
}

void Ledger::note_heard(const std::string& node, Now now) {
  const auto found = book_->nodes.find(node);
  if (found == book_->nodes.end()) return;
  found->second.heard = now.steady;
  found->second.last_heard = now.wall;
}

// Its pods would lose their partitions, and its GUIDs would be on two ports at once.
Status Ledger::check_silent(const std::string& name, const NodeEntry& node, Now now) const {
  if (node.forgetting || (node.bindings == 0 && node.guids == 0)) return ok();
  const Steady heard = node.heard.value_or(loaded_);
  if (now.steady - heard >= policy_.lease) return ok();
  const auto seconds = [](auto time) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
  };
  const std::string why =
      node.heard ? " is alive: it was heard of " + seconds(now.steady - heard) + " ago"
                 : " may be alive: ibpod-sm has started " + seconds(now.steady - heard) +
                       " ago and has not heard of it yet";
  return Error(Code::busy,
               "node " + name + why + ". To forget it would take its " +
                   std::to_string(node.bindings) +
                   " bindings from pods that may run, and give its " + std::to_string(node.guids) +
                   " GUIDs to other nodes while its VFs have them. Drain it and stop its agent, "
                   "and try again in " +
                   seconds(heard + policy_.lease - now.steady) +
                   "; or now with --force, if its devices are out of use");
}

Result<fabricapi::Node> Ledger::forget(const Caller& caller,
                                       const fabricapi::ForgetRequest& request, Now now) {
  TRY(usable());
  TRY(may_administer(caller));
  const std::string& node = request.node;
  const auto found = book_->nodes.find(node);
  if (found == book_->nodes.end())
    return Error(Code::not_found, "there is no node " + node.substr(0, 253));
  if (!request.force) TRY(check_silent(node, found->second, now));
  found->second.forgetting = true;
  stage(Kind::node, node);
  for (Entry* const entry : entries_of(*book_, node)) release(*entry, {Reason::waiting, ""}, now);
  fabricapi::Node told = *this->node(node);
  finish_forgetting(node);
  if (!book_->nodes.contains(node)) told.guids = 0;
  return told;
}

void Ledger::finish_forgetting(const std::string& node) {
  const auto found = book_->nodes.find(node);
  if (found == book_->nodes.end() || !found->second.forgetting || found->second.bindings != 0)
    return;
  for (auto place = book_->by_vf.lower_bound({node, "", 0});
       place != book_->by_vf.end() && place->first.node == node; ++place)
    stage(Kind::guid, place->second.text());
  stage(Kind::node, node);
  const std::string name = node;  // which may be the entry's own
  book_->remove_node(name);
}

}  // namespace ibpod::sm
