#include "agent/sm_client/lease_loop.h"

#include "lib/fabricapi/fields.h"
#include "lib/node/boot_id.h"

#include <algorithm>
#include <utility>

namespace ibpod::agent {
namespace {

constexpr Duration kPatience{10'000};

// Also what cannot be read any more: a binding may be behind it.
bool may_be_bound(const Result<node::Record>& record) {
  if (record) return !record->wanted.partitions.empty();
  return record.error().code() != Code::not_found;
}

// What no message can hold has never been bound: the service would refuse a Sync as a whole for it,
// and all other bindings would end with their lease.
bool can_be_named(const node::RecordName& name) {
  return fabricapi::read_container("", name.container_id) &&
         fabricapi::read_interface("", name.ifname);
}

}  // namespace

Renewal::Renewal(RenewalWorld world, Pace pace)
    : world_(std::move(world)), pace_(pace), thread_([this] { run(); }) {}

Renewal::~Renewal() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  told_.notify_all();
  thread_.join();
}

void Renewal::hurry() {
  {
    const std::scoped_lock lock(mutex_);
    hurry_ = true;
  }
  told_.notify_all();
}

void Renewal::sync_now() {
  {
    const std::scoped_lock lock(mutex_);
    sync_now_ = hurry_ = true;
  }
  told_.notify_all();
}

void Renewal::set_ports(const NodePorts& ports) {
  {
    const std::scoped_lock lock(mutex_);
    if (ports_ == ports) return;
    ports_ = ports;
    sync_now_ = hurry_ = true;
  }
  told_.notify_all();
}

bool Renewal::take_sync_now() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(sync_now_, false);
}

// False: it is to end.
bool Renewal::wait(Deadline until) {
  std::unique_lock lock(mutex_);
  told_.wait_until(lock, until.time(), [&] { return stopping_ || hurry_; });
  hurry_ = false;
  return !stopping_;
}

void Renewal::run() {
  BackOff pauses(pace_.first, pace_.most);
  Deadline renew = Deadline::in(Duration(0));
  while (wait(turn(renew, pauses))) continue;
}

Deadline Renewal::turn(Deadline& renew, BackOff& pauses) {
  Status went = ok();
  const bool now = take_sync_now();
  if (now || renew.passed()) {
    const Result<Duration> next = sync();
    if (next) renew = Deadline::in(*next);
    if (!next) went = next.error();
  }
  bool waits = world_.bindings.underway();
  if (went) {
    const Result<bool> wanted = observe();
    if (wanted) waits |= *wanted;
    if (!wanted) went = wanted.error();
  }
  if (went) {
    pauses.reset();
    return waits ? renew.at_most(pace_.observe) : renew;
  }
  const bool refused = went.error().code() == Code::denied;
  world_.told({false, went.error().text(), refused, 0, 0, {}});
  renew = Deadline::in(pauses.next());
  return renew;
}

// A folder that is missing is not one without records: the agent has made it. Its disk may have
// been unmounted, and a Sync would end the bindings of all pods.
Status Renewal::check_records() const {
  if (world_.records.has_folder()) return ok();
  return Error(Code::unavailable, "records of attachments: " + world_.records.folder().string() +
                                      " is missing: mount the disk that it is on");
}

Result<Duration> Renewal::sync() {
  TRY(check_records());
  const Bindings::Moment moment = world_.bindings.moment();
  const std::vector<node::RecordName> names = TRY(world_.records.all());
  fabricapi::SyncRequest request;
  request.node = world_.node;
  request.boot = TRY(node::read_boot_id());
  {
    const std::scoped_lock lock(mutex_);
    request.vfs = ports_.vfs;
    request.pfs = ports_.pfs;
  }
  std::set<fabric::Attachment> known;
  for (const node::RecordName& name : names) {
    if (!can_be_named(name) || !may_be_bound(world_.records.read(name))) continue;
    request.attachments.push_back({name.container_id, name.ifname});
    known.insert({world_.node, name.container_id, name.ifname});
  }
  const fabricapi::SyncAnswer answer = TRY(world_.client.sync(request, Deadline::in(kPatience)));
  world_.bindings.forget_all_but(known, moment);
  remember(answer);
  tell(answer, settle(answer, moment));
  // A record that has come while the service was asked is named at once: what is not named ends
  // with its lease.
  const auto& unnamed = answer.not_named;
  const bool all_named = std::none_of(unnamed.begin(), unnamed.end(),
                                      [&](const auto& one) { return is_recorded(one); });
  if (!all_named) return pace_.least;
  // Three of them have to fail before a lease runs out. A VF that the service does not know is not
  // offered, and no event tells that the service has been told of it.
  const Duration most = has_unknown_vf(answer) ? pace_.most : answer.lease;
  return std::max(std::min(answer.lease / 3, most), pace_.least);
}

bool Renewal::has_unknown_vf(const fabricapi::SyncAnswer& answer) const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(ports_.vfs.begin(), ports_.vfs.end(), [&](const ib::Guid& vf) {
    return std::find(answer.unknown.begin(), answer.unknown.end(), vf) != answer.unknown.end();
  });
}

// How many were lost.
size_t Renewal::settle(const fabricapi::SyncAnswer& answer, Bindings::Moment asked) {
  size_t lost = 0;
  for (const fabric::Binding& binding : answer.bindings) world_.bindings.seen(binding, asked);
  for (const auto& one : answer.not_bound)
    lost += world_.lost({one.container, one.interface, ""}, asked) ? 1 : 0;
  for (const fabric::Binding& binding : answer.not_named) end_if_unrecorded(binding);
  return lost;
}

void Renewal::remember(const fabricapi::SyncAnswer& answer) {
  std::set<fabric::Attachment> there;
  for (const auto* const bindings : {&answer.bindings, &answer.not_named})
    for (const fabric::Binding& binding : *bindings) there.insert(binding.attachment);
  const std::scoped_lock lock(mutex_);
  there_ = std::move(there);
}

bool Renewal::has_told_of(const fabric::Attachment& attachment) const {
  const std::scoped_lock lock(mutex_);
  return there_.contains(attachment);
}

// A record is there before anything is bound for it: what has none is over, and its plugin was
// killed before it could say so.
void Renewal::end_if_unrecorded(const fabric::Binding& binding) {
  const auto& [node, container, interface] = binding.attachment;
  const auto names = world_.records.of_attachment(container, interface);
  if (names && names->empty() && check_records()) world_.bindings.unbind(binding.attachment);
}

bool Renewal::is_recorded(const fabric::Binding& binding) const {
  const auto names =
      world_.records.of_attachment(binding.attachment.container, binding.attachment.interface);
  return names && std::any_of(names->begin(), names->end(), [&](const node::RecordName& name) {
           return may_be_bound(world_.records.read(name));
         });
}

Result<bool> Renewal::observe() {
  fabricapi::ObserveRequest request{world_.node, stamp_, world_.tables(wanted_)};
  const fabricapi::ObserveAnswer answer =
      TRY(world_.client.observe(request, Deadline::in(kPatience)));
  stamp_ = answer.stamp;
  wanted_ = answer.wanted;
  return !wanted_.empty();
}

void Renewal::tell(const fabricapi::SyncAnswer& answer, size_t lost) {
  Contact contact{true, "", false, 0, lost, {answer.unknown.begin(), answer.unknown.end()}};
  for (const fabric::Binding& binding : answer.bindings)
    ++(binding.state == fabric::State::verified ? contact.bound : contact.unsettled);
  world_.told(contact);
}

}  // namespace ibpod::agent
