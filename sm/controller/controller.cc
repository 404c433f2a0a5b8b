#include "sm/controller/controller.h"

#include "sm/registry/names.h"
#include "sm/registry/authz.h"

#include <algorithm>
#include <cmath>

namespace ibpod::sm {
namespace {

using fabricapi::Caller;

template <typename Value>
Status status_of(const Result<Value>& result) {
  return result ? ok() : Status(result.error());
}

}  // namespace

const Caller Steward::kItself{
    .role = fabricapi::Role::administrator, .node = {}, .name = "ibpod-sm"};

const Error Steward::kGone(Code::unavailable, "whoever asked for it has gone");

Steward::Steward(World world, StewardSettings settings, Now now)
    : world_(world),
      settings_(std::move(settings)),
      now_(now),
      placed_(settings_.epoch),
      swept_(settings_.epoch),
      sightings_(settings_.own_port),
      changes_(settings_.changes),
      started_(now.steady) {
  administrators_ = world_.engine.administrators();
  all_ = in_tables({});
  leave_alone();
  remember_namespaces();
  if (!settings_.declares) declare_at_ = now_.steady;
}

void Steward::leave_alone() {
  std::set<uint16_t> pkeys;
  size_t bytes = 0;
  for (const fabric::Partition& partition : administrators_) {
    pkeys.insert(partition.pkey.partition());
    bytes += fabric::kMostHeadBytes + partition.members.size() * fabric::kMostMemberBytes;
  }
  world_.ledger.leave_alone(std::move(pkeys), bytes);
}

void Steward::when_committed(std::function<void(const Status&)> answer) {
  answers_.push_back(std::move(answer));
}

template <typename Value>
void Steward::answer(Result<Value> result, Done<Value> done) {
  if (!result) return done(std::move(result));
  when_committed([result = std::move(result), done = std::move(done)](const Status& committed) {
    done(committed ? result : Result<Value>(committed.error()));
  });
}

Placements::Time Steward::until(Deadline deadline) const {
  return std::min(deadline.time(), now_.steady + settings_.patience);
}

// --- partitions

// Whether he may, and the engine could enforce the partitions with this one among them.
Status Steward::check_engine(const Caller& caller, const fabricapi::PlanRequest& request) const {
  TRY(may_administer(caller));
  TRY(planned(request));
  return ok();
}

void Steward::create_partition(const Caller& caller, const fabric::Tenancy& tenancy,
                               Done<fabric::TenancyStatus> done) {
  const Status possible = check_engine(caller, {.tenancy = tenancy, .without = {}});
  auto created = possible ? world_.ledger.create(caller, tenancy) : possible.error();
  note_met();
  audit(caller, "create partition", tenancy.name, status_of(created));
  answer(std::move(created), std::move(done));
}

void Steward::update_partition(const Caller& caller, const fabric::Tenancy& tenancy,
                               Done<fabric::TenancyStatus> done) {
  const Status possible = check_engine(caller, {.tenancy = tenancy, .without = {}, .update = true});
  auto updated = possible ? world_.ledger.update(caller, tenancy, now_) : possible.error();
  note_met();
  audit(caller, "update partition", tenancy.name, status_of(updated));
  answer(std::move(updated), std::move(done));
}

void Steward::delete_partition(const Caller& caller, const std::string& name,
                               Done<fabric::TenancyStatus> done) {
  auto removed = world_.ledger.remove(caller, name);
  audit(caller, "delete partition", name, status_of(removed));
  answer(std::move(removed), std::move(done));
}

// --- bindings

Places Steward::places(ib::Guid port) const {
  Places places;
  const fabric::EndPort end_port = sightings_.end_port(port);
  places.taken = others_.of(end_port).keys.size();
  const fabric::SeenPort* const seen = sightings_.topology().find(port);
  if (seen == nullptr) return places;
  places.of_port = seen->places;
  if (seen->leaf && seen->leaf->enforcement) places.of_leaf = seen->leaf->enforcement->places;
  return places;
}

void Steward::bind(const Caller& caller, const fabricapi::BindRequest& request,
                   const fabricapi::Patience& patience, Done<fabric::Binding> done) {
  if (waiting_.size() + postponed_.size() >= settings_.most_waiting) {
    const Error refusal(Code::unavailable, "too many requests wait; try again later");
    audit(caller, "bind", text(request.attachment), refusal);
    return done(refusal);
  }
  try_bind({caller, request, patience, until(patience.until()), std::move(done)});
}

// Whether a binding that may be about to go stands in the way: another attachment's, or its own
// former one.
bool Steward::leaves(const fabricapi::BindRequest& request) const {
  const auto there = world_.ledger.bindings_on(request.guid);
  return request.kind == fabric::Kind::vf &&
         std::any_of(there.begin(), there.end(), [&](const fabric::Binding* one) {
           return one->attachment != request.attachment || one->state == fabric::State::releasing;
         });
}

// One that the engine would have to refuse would keep everybody else's from being enforced.
Status Steward::check_index0(const fabricapi::BindRequest& request) const {
  if (request.kind == fabric::Kind::child) return ok();
  const auto taken = others_.of(sightings_.end_port(request.guid)).index0;
  for (const fabricapi::BindRequest::Wish& wish : request.partitions) {
    if (!world_.ledger.takes_index0(wish.partition)) continue;
    if (request.guid == settings_.own_port)
      return Error(Code::invalid,
                   "the subnet manager's own port has to keep the default key at "
                   "index 0, which partition " +
                       wish.partition + " would take");
    if (taken && !taken->same_partition(fabric::kDefaultPKey))
      return Error(Code::busy, "index 0 of port " + request.guid.text() +
                                   " is taken by the administrator's partition " + taken->text() +
                                   ", and partition " + wish.partition + " wants it");
  }
  return ok();
}

// Only Binds: what a node gives back it always may. And only their changes count.
Status Steward::check_rate(const Caller& caller, const fabricapi::BindRequest& request) const {
  if (caller.role != fabricapi::Role::node || changes_.allows(caller.node, now_.steady))
    return ok();
  const auto whole = [](double number) { return std::to_string(std::llround(number)); };
  return Error(Code::busy, "node " + caller.node +
                               " changes bindings too often: its Binds may change " +
                               whole(changes_.settings().burst) + " at once and " +
                               whole(changes_.settings().per_second) +
                               " a second; try again later (" + text(request.attachment) + ")");
}

Result<fabric::Binding> Steward::bind_now(const Caller& caller,
                                          const fabricapi::BindRequest& request) {
  TRY(check_rate(caller, request));
  const fabricapi::BindRequest named = TRY(world_.ledger.named(caller, request));
  TRY(check_index0(named));
  TRY(check_vacant(named));
  TRY(check_unseen(named));
  return world_.ledger.bind(caller, named, places(named.guid), now_);
}

void Steward::try_bind(Postponed postponed) {
  if (postponed.patience.gone()) return refuse(postponed, kGone);
  const uint64_t before = world_.ledger.changes();
  Result<fabric::Binding> bound = bind_now(postponed.caller, postponed.request);
  if (!bound && bound.error().code() == Code::busy && leaves(postponed.request) &&
      now_.steady < postponed.until) {
    postponed.why = bound.error();
    postponed_.push_back(std::move(postponed));
    return;
  }
  const Report::Effect effect = effect_since(before);
  if (bound && effect == Report::Effect::change && postponed.caller.role == fabricapi::Role::node)
    changes_.take(postponed.caller.node, now_.steady);
  if (bound) world_.ledger.note_heard(postponed.request.attachment.node, now_);
  audit_bind(postponed, status_of(bound), effect);
  if (!bound) return postponed.done(std::move(bound));
  if (hindrance_.reason != fabric::Reason::none)
    world_.ledger.note_trouble(bound->guid, hindrance_, now_);
  wait(*bound, Waiting::For::verified, postponed.until, std::move(postponed.done));
}

void Steward::unbind(const Caller& caller, const fabric::Attachment& attachment, Deadline deadline,
                     Done<fabric::Binding> done) {
  const uint64_t before = world_.ledger.changes();
  const Result<fabric::Binding> unbound = world_.ledger.unbind(caller, attachment, now_);
  audit(caller, "unbind", text(attachment), status_of(unbound), effect_since(before));
  if (!unbound) return done(unbound);
  // An administrator may unbind, too.
  if (caller.role == fabricapi::Role::node) world_.ledger.note_heard(caller.node, now_);
  drop_postponed(attachment);
  wait(*unbound, Waiting::For::released, until(deadline), std::move(done));
}

void Steward::wait(const fabric::Binding& binding, Waiting::For what, Placements::Time until,
                   Done<fabric::Binding> done) {
  when_committed([this, binding, what, until, asked = now_.steady,
                  done = std::move(done)](const Status& committed) {
    if (!committed) return done(committed.error());
    if (what == Waiting::For::verified && binding.state != fabric::State::verified)
      asked_.try_emplace(binding.attachment, asked);
    waiting_.add(binding.attachment, what, until, done);
    const auto now = world_.ledger.binding(kItself, binding.attachment);
    waiting_.tell(now ? *now : binding);
  });
}

void Steward::sync(const Caller& caller, const fabricapi::SyncRequest& request,
                   Done<fabricapi::SyncAnswer> done) {
  answer(world_.ledger.sync(caller, request, now_), std::move(done));
}

void Steward::allocate_guids(const Caller& caller, const fabricapi::AllocateRequest& request,
                             Done<std::vector<fabricapi::Allocated>> done) {
  const uint64_t before = world_.ledger.changes();
  auto allocated = world_.ledger.allocate(caller, request);
  if (allocated) world_.ledger.note_heard(request.node, now_);
  audit(caller, "allocate GUIDs", request.node + "/" + request.pf, status_of(allocated),
        effect_since(before));
  answer(std::move(allocated), std::move(done));
}

void Steward::forget_node(const Caller& caller, const fabricapi::ForgetRequest& request,
                          Deadline deadline, Done<fabricapi::Node> done) {
  const std::string& node = request.node;
  const Result<fabricapi::Node> forgotten = world_.ledger.forget(caller, request, now_);
  audit(caller, request.force ? "force forget node" : "forget node", node, status_of(forgotten));
  if (!forgotten) return done(forgotten);
  namespaces_.forget(node);
  when_committed(
      [this, node, until = until(deadline), done = std::move(done)](const Status& committed) {
        if (!committed) return done(committed.error());
        forgetting_.push_back({node, until, done});
      });
}

}  // namespace ibpod::sm
