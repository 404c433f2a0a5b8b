#include "agent/sm_client/lease_loop.h"

#include "lib/fabricapi/fields.h"
#include "lib/node/boot_id.h"

#include <algorithm>
#include <utility>

namespace ibpod::agent::sm_client {
namespace {

constexpr Duration kTimeout{10'000};

// Also what cannot be read any more: a binding may be behind it.
bool belongs_in_sync(const Result<node::Record>& record) {
  if (record) return !record->spec.partitions.empty();
  return record.error().code() != Code::not_found;
}

// An attachment whose name fits into no message has never been bound: the service would refuse a
// whole Sync for it, and all other bindings would end with their lease.
bool is_valid_name(const node::RecordName& name) {
  return fabricapi::read_container("", name.container_id) &&
         fabricapi::read_interface("", name.ifname);
}

}  // namespace

LeaseLoop::LeaseLoop(LeaseLoopDeps deps, Timing timing)
    : deps_(std::move(deps)), timing_(timing), thread_([this] { run(); }) {}

LeaseLoop::~LeaseLoop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LeaseLoop::observe_now() {
  {
    const std::scoped_lock lock(mutex_);
    observe_now_ = true;
  }
  changed_.notify_all();
}

void LeaseLoop::sync_now() {
  {
    const std::scoped_lock lock(mutex_);
    sync_now_ = observe_now_ = true;
  }
  changed_.notify_all();
}

void LeaseLoop::set_ports(const NodePorts& ports) {
  {
    const std::scoped_lock lock(mutex_);
    if (ports_ == ports) return;
    ports_ = ports;
    sync_now_ = observe_now_ = true;
  }
  changed_.notify_all();
}

bool LeaseLoop::take_sync_now() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(sync_now_, false);
}

// False: it is to end.
bool LeaseLoop::wait(Deadline until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until.time(), [&] { return stopping_ || observe_now_; });
  observe_now_ = false;
  return !stopping_;
}

void LeaseLoop::run() {
  BackOff pauses(timing_.first_pause, timing_.max_pause);
  Deadline renew = Deadline::in(Duration(0));
  while (wait(tick(renew, pauses))) continue;
}

Deadline LeaseLoop::tick(Deadline& renew, BackOff& pauses) {
  Status went = ok();
  const bool now = take_sync_now();
  if (now || renew.passed()) {
    const Result<Duration> next = sync();
    if (next) renew = Deadline::in(*next);
    if (!next) went = next.error();
  }
  bool waits = deps_.bindings.has_running();
  if (went) {
    const Result<bool> wanted = observe();
    if (wanted) waits |= *wanted;
    if (!wanted) went = wanted.error();
  }
  if (went) {
    pauses.reset();
    return waits ? renew.at_most(timing_.observe_interval) : renew;
  }
  const bool refused = went.error().code() == Code::denied;
  deps_.on_status({false, went.error().text(), refused, 0, 0, {}});
  renew = Deadline::in(pauses.next());
  return renew;
}

// A folder that is missing is not one without records: the agent has made it. Its disk may have
// been unmounted, and a Sync would end the bindings of all pods.
Status LeaseLoop::check_records() const {
  if (deps_.records.has_folder()) return ok();
  return Error(Code::unavailable,
               "cannot read attachment records: " + deps_.records.folder().string() +
                   " is missing: mount the disk that holds it");
}

Result<Duration> LeaseLoop::sync() {
  TRY(check_records());
  const Bindings::Revision revision = deps_.bindings.revision();
  const std::vector<node::RecordName> names = TRY(deps_.records.all());
  fabricapi::SyncRequest request;
  request.node = deps_.node;
  request.boot = TRY(node::read_boot_id());
  {
    const std::scoped_lock lock(mutex_);
    request.vfs = ports_.vfs;
    request.pfs = ports_.pfs;
  }
  std::set<fabric::Attachment> known;
  for (const node::RecordName& name : names) {
    if (!is_valid_name(name) || !belongs_in_sync(deps_.records.read(name))) continue;
    request.attachments.push_back({name.container_id, name.ifname});
    known.insert({deps_.node, name.container_id, name.ifname});
  }
  const fabricapi::SyncAnswer answer = TRY(deps_.client.sync(request, Deadline::in(kTimeout)));
  deps_.bindings.retain_only(known, revision);
  set_bound(answer);
  report(answer, apply(answer, revision));
  // A record that has come while the service was asked is named at once: what is not named ends
  // with its lease.
  const auto& unnamed = answer.not_named;
  const bool all_named = std::none_of(unnamed.begin(), unnamed.end(),
                                      [&](const auto& one) { return is_recorded(one); });
  if (!all_named) return timing_.min_sync_interval;
  // Three of them have to fail before a lease runs out. A VF that the service does not know is not
  // offered, and no event tells that the service has been told of it.
  const Duration most = has_unknown_vf(answer) ? timing_.max_pause : answer.lease;
  return std::max(std::min(answer.lease / 3, most), timing_.min_sync_interval);
}

bool LeaseLoop::has_unknown_vf(const fabricapi::SyncAnswer& answer) const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(ports_.vfs.begin(), ports_.vfs.end(), [&](const ib::Guid& vf) {
    return std::find(answer.unknown.begin(), answer.unknown.end(), vf) != answer.unknown.end();
  });
}

// How many were lost.
size_t LeaseLoop::apply(const fabricapi::SyncAnswer& answer, Bindings::Revision asked) {
  size_t lost = 0;
  for (const fabric::Binding& binding : answer.bindings)
    deps_.bindings.update_from_sync(binding, asked);
  for (const auto& one : answer.not_bound)
    lost += deps_.on_lost({one.container, one.interface, ""}, asked) ? 1 : 0;
  for (const fabric::Binding& binding : answer.not_named) unbind_if_unrecorded(binding);
  return lost;
}

void LeaseLoop::set_bound(const fabricapi::SyncAnswer& answer) {
  std::set<fabric::Attachment> there;
  for (const auto* const bindings : {&answer.bindings, &answer.not_named})
    for (const fabric::Binding& binding : *bindings) there.insert(binding.attachment);
  const std::scoped_lock lock(mutex_);
  bound_ = std::move(there);
}

bool LeaseLoop::has_binding(const fabric::Attachment& attachment) const {
  const std::scoped_lock lock(mutex_);
  return bound_.contains(attachment);
}

// A record is there before anything is bound for it: what has none is over, and its plugin was
// killed before it could say so.
void LeaseLoop::unbind_if_unrecorded(const fabric::Binding& binding) {
  const auto& [node, container, interface] = binding.attachment;
  const auto names = deps_.records.of_attachment(container, interface);
  if (names && names->empty() && check_records()) deps_.bindings.unbind(binding.attachment);
}

bool LeaseLoop::is_recorded(const fabric::Binding& binding) const {
  const auto names =
      deps_.records.of_attachment(binding.attachment.container, binding.attachment.interface);
  return names && std::any_of(names->begin(), names->end(), [&](const node::RecordName& name) {
           return belongs_in_sync(deps_.records.read(name));
         });
}

Result<bool> LeaseLoop::observe() {
  fabricapi::ObserveRequest request{deps_.node, stamp_, deps_.read_tables(requested_ports_)};
  const v1::ObserveResponse answer = TRY(deps_.client.observe(request, Deadline::in(kTimeout)));
  stamp_ = answer.stamp();
  requested_ports_ = std::vector<ib::Guid>(answer.wanted().begin(), answer.wanted().end());
  return !requested_ports_.empty();
}

void LeaseLoop::report(const fabricapi::SyncAnswer& answer, size_t lost) {
  SmStatus sm_status{true, "", false, 0, lost, {answer.unknown.begin(), answer.unknown.end()}};
  for (const fabric::Binding& binding : answer.bindings)
    ++(binding.state == fabric::BindingState::verified ? sm_status.verified : sm_status.unverified);
  deps_.on_status(sm_status);
}

}  // namespace ibpod::agent::sm_client
