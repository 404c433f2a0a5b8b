#include "sm/registry/registry.h"

#include "sm/registry/state.h"
#include "sm/registry/names.h"
#include "sm/registry/read_state.h"
#include "sm/registry/stored.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::State;

// What is promised by it, whatever has been found out.
bool same_promise(const Entry& a, const Entry& b) {
  const auto released = [](const Entry& entry) { return entry.binding.state == State::releasing; };
  fabric::Binding binding = a.binding;
  binding.state = b.binding.state;
  binding.standing = b.binding.standing;
  binding.proof = b.binding.proof;
  binding.enforcement = b.binding.enforcement;
  binding.changed = b.binding.changed;
  return binding == b.binding && a.former == b.former && released(a) == released(b);
}

bool same_told(const Port::AllTold& a, const Port::AllTold& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.first->tenancy.name == other.first->tenancy.name && one.second == other.second;
  });
}

template <typename Map>
std::optional<std::string> value_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return to_bytes(found->second);
}

}  // namespace

Ledger::Ledger(Store& store, Policy policy)
    : store_(store), policy_(std::move(policy)), book_(std::make_unique<Book>()) {
  for (const auto& [node, given] : policy_.nodes) {
    policy_.guids_of_nodes.insert(given.guids.begin(), given.guids.end());
    policy_.guids_of_nodes.insert(given.pfs.begin(), given.pfs.end());
  }
}

Ledger::~Ledger() = default;

Result<std::unique_ptr<Ledger>> Ledger::load(Store& store, Policy policy, Now now) {
  TRY(check(policy));
  std::unique_ptr<Ledger> ledger(new Ledger(store, std::move(policy)));
  ledger->book_ = TRY(read_book(store, ledger->policy_));
  ledger->loaded_ = now.steady;
  ledger->take_up(now);
  return ledger;
}

// Whatever was interrupted goes on.
void Ledger::take_up(Now now) {
  std::vector<ib::Guid> guids;
  for (auto& [guid, port] : book_->ports) {
    port.changed_in = version_;  // of what is not told any more, too: nothing seen before counts
    guids.push_back(guid);
  }
  for (const ib::Guid guid : guids) book_->refresh(guid, version_);
  for (auto& [name, tenant] : book_->tenants) tenant.version = version_;
  for (auto& [attachment, entry] : book_->bindings) renew(entry, now);
  std::vector<std::string> forgetting;
  for (auto& [name, node] : book_->nodes) {
    node.machine = Machine(node.machine.boot(), now.steady);
    if (node.forgetting) forgetting.push_back(name);
  }
  for (const std::string& name : forgetting) finish_forgetting(name);
}

Status Ledger::usable() const {
  if (readable_) return ok();
  return Error(Code::unavailable, "what has been promised could not be read from the store again");
}

Status Ledger::commit(Now now) {
  if (!readable_) return read_again(now);
  if (staged_.empty()) return ok();
  std::vector<Change> changes;
  changes.reserve(staged_.size());
  for (const auto& [kind, key] : staged_) changes.push_back({kind, key, value_of(kind, key)});
  Status done = store_.commit(changes);
  if (done) {
    staged_.clear();
    return done;
  }
  Error failure = std::move(done).error();
  const Status read = read_again(now);
  if (!read) return std::move(failure).also(read.error());
  return failure;
}

Status Ledger::read_again(Now now) {
  staged_.clear();
  Result<std::unique_ptr<Book>> read = read_book(store_, policy_);
  readable_ = read.ok();
  if (!read) return std::move(read).error();
  const std::unique_ptr<Book> before = std::exchange(book_, std::move(*read));
  ++version_;
  take_up(now);
  adopt(*before);
  return ok();
}

// What has been found out about promises that still stand.
void Ledger::adopt(const Book& before) {
  for (auto& [name, tenant] : book_->tenants)
    if (const Tenant* const known = before.find_tenant(name)) adopt(tenant, *known);
  for (auto& [guid, port] : book_->ports) {
    const Port* const known = before.find_port(guid);
    if (known == nullptr) continue;
    if (same_told(known->told, port.told)) port.changed_in = known->changed_in;
    port.trouble = known->trouble;
  }
  for (auto& [attachment, entry] : book_->bindings) {
    const auto known = before.bindings.find(attachment);
    if (known != before.bindings.end() && same_promise(known->second, entry))
      adopt(entry, known->second);
    else
      changed(entry);
  }
  for (const auto& [attachment, entry] : before.bindings)
    if (!book_->bindings.contains(attachment)) tell_gone(entry.binding);
  for (const auto& [name, node] : before.nodes) {
    if (node.heard) note_heard(name, {*node.heard, *node.last_heard});
    const auto now = book_->nodes.find(name);
    if (now != book_->nodes.end()) now->second.machine = node.machine;
  }
}

void Ledger::adopt(Tenant& tenant, const Tenant& before) {
  if (before.tenancy != tenant.tenancy || before.deleting() != tenant.deleting()) return;
  tenant.state = before.state;
  tenant.standing = before.standing;
  tenant.version = before.version;
  tenant.swept = before.swept;
  tenant.retired = before.retired;
}

void Ledger::adopt(Entry& entry, const Entry& before) {
  entry.binding = before.binding;
  entry.lost = before.lost;
  book_->end_lease(entry);
  if (before.binding.state != State::releasing && !before.lost)
    book_->renew(entry, before.lease_end);
  entry.unnamed = before.unnamed;
  book_->settle(entry.binding.guid);
}

void Ledger::refresh(ib::Guid guid) {
  if (book_->refresh(guid, version_ + 1)) ++version_;
}

void Ledger::set_state(Entry& entry, State state, fabric::Standing standing, Now now) {
  fabric::Binding& binding = entry.binding;
  const bool moves = binding.state != state;
  if (!moves && binding.standing == standing) return;
  if (moves) binding.changed = now.wall;
  binding.state = state;
  binding.standing = std::move(standing);
  if (state != State::verified) {
    binding.proof = fabric::Proof::none;
    binding.enforcement = fabric::Enforcement::unknown;
  }
  changed(entry);
}

void Ledger::changed(const Entry& entry) { changes_[entry.binding.attachment] = std::nullopt; }

void Ledger::tell_gone(const fabric::Binding& binding) {
  fabric::Binding gone = binding;
  gone.state = State::released;
  gone.standing = {};
  changes_[binding.attachment] = std::move(gone);
}

void Ledger::stage(Kind kind, std::string key) {
  ++staged_changes_;
  staged_.emplace(kind, std::move(key));
}
void Ledger::stage(const Tenant& tenant) { stage(Kind::partition, tenant.tenancy.name); }
void Ledger::stage(const Entry& entry) {
  stage(Kind::binding, key_of(entry.binding.attachment));
  changed(entry);
}

// As it is now; nothing where there is nothing to be kept of it any more.
std::optional<std::string> Ledger::value_of(Kind kind, const std::string& key) const {
  switch (kind) {
    case Kind::partition:
      return value_in(book_->tenants, key);
    case Kind::binding:
      return value_in(book_->bindings, attachment_of(key).value());
    case Kind::guid:
      return value_in(book_->given, ib::Guid::parse(key).value());
    case Kind::node: {
      const auto found = book_->nodes.find(key);
      const bool kept =
          found != book_->nodes.end() && (found->second.forgetting || !found->second.pfs.empty());
      return kept ? std::optional(to_bytes(found->second)) : std::nullopt;
    }
    case Kind::range:
      break;
  }
  if (key == "pkeys") return last_to_bytes(book_->last_pkey.value());
  return last_to_bytes(book_->last_guid.value().value());
}

}  // namespace ibpod::sm
