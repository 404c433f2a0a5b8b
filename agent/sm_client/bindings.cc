#include "agent/sm_client/bindings.h"

#include "agent/sm_client/bind_request.h"

#include <algorithm>

namespace ibpod::agent::sm_client {
namespace {

// A later try will not do better.
bool is_refusal(const Error& error) {
  switch (error.code()) {
    case Code::unavailable:
    case Code::busy:
    case Code::internal:
      return false;
    default:
      return true;
  }
}

}  // namespace

Bindings::~Bindings() {
  std::vector<std::thread> threads;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    for (auto& [attachment, pending] : pending_) threads.push_back(std::move(pending.thread));
  }
  changed_.notify_all();
  for (std::thread& thread : threads)
    if (thread.joinable()) thread.join();
}

void Bindings::bind(const fabricapi::BindRequest& request) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(request.attachment);
  const bool same =
      found != pending_.end() && found->second.request == request && !found->second.error;
  if (same && (found->second.running || is_done(found->second))) return;
  begin(request.attachment, request);
}

void Bindings::unbind(const fabric::Attachment& attachment) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(attachment);
  const bool same = found != pending_.end() && !found->second.request && !found->second.error;
  if (same && found->second.running) return;
  begin(attachment, std::nullopt);
}

void Bindings::begin(const fabric::Attachment& attachment,
                     std::optional<fabricapi::BindRequest> wanted) {
  PendingBinding& pending = pending_[attachment];
  pending.request = std::move(wanted);
  pending.bind_started |= pending.request.has_value();
  const std::string before = pending.error ? pending.error->text() : "";
  pending.error.reset();
  pending.last_known = {};
  pending.last_known.attachment = attachment;
  pending.last_known.state =
      pending.request ? fabric::BindingState::requested : fabric::BindingState::releasing;
  // A caller that asks again gets the reason why the last request had no answer.
  pending.last_known.condition = {fabric::Reason::waiting,
                                  before.empty() ? "the SM service has not answered yet" : before};
  pending.changed_at = ++revision_;
  ++pending.generation;
  changed_.notify_all();
  if (pending.running || stopping_) return;
  if (pending.thread.joinable()) pending.thread.join();  // it has ended
  pending.thread = std::thread([this, attachment] { run(attachment); });
  pending.running = true;
}

Result<fabric::Binding> Bindings::send(const fabric::Attachment& attachment,
                                       const std::optional<fabricapi::BindRequest>& wanted,
                                       Deadline deadline) {
  return wanted ? client_.bind(*wanted, deadline) : client_.unbind(attachment, deadline);
}

void Bindings::run(const fabric::Attachment& attachment) {
  BackOff pauses(timing_.first_pause, timing_.max_pause);
  std::unique_lock lock(mutex_);
  PendingBinding& pending = pending_.at(attachment);
  while (!stopping_) {
    const auto wanted = pending.request;
    const uint64_t turn = pending.generation;
    const bool awaits_grant = wanted && wanted->guid_requested && !is_granted(pending);
    const Duration timeout = awaits_grant ? timing_.grant_timeout : timing_.call_timeout;
    const Deadline soon = Deadline::in(timeout / 2);
    lock.unlock();
    Result<fabric::Binding> result = send(attachment, wanted, Deadline::in(timeout));
    lock.lock();
    if (turn != pending.generation) {
      pauses.reset();
      continue;
    }
    const bool answered = result.ok();
    if (answered) pending.last_known = std::move(result).value();
    pending.error = answered ? std::nullopt : std::optional(result.error());
    pending.changed_at = ++revision_;
    changed_.notify_all();
    if (is_done(pending)) {
      if (!wanted && !pending.error) pending.bind_started = false;
      break;
    }
    // A service that is there waits itself.
    if (answered && soon.passed()) continue;
    changed_.wait_for(lock, pauses.next(), [&] { return stopping_ || turn != pending.generation; });
    // If no caller waits for a release, the next user of the device asks for it again.
    if (turn == pending.generation && !wanted && pending.waiters == 0) break;
  }
  pending.running = false;
  changed_.notify_all();
}

bool Bindings::is_granted(const PendingBinding& pending) {
  return !pending.error && agent::sm_client::is_granted(pending.last_known);
}

bool Bindings::is_done(const PendingBinding& pending) {
  if (pending.error) return is_refusal(*pending.error);
  return pending.last_known.state ==
         (pending.request ? fabric::BindingState::verified : fabric::BindingState::released);
}

Result<fabric::Binding> Bindings::result_of(const PendingBinding& pending) {
  if (pending.error) return *pending.error;
  return pending.last_known;
}

Result<fabric::Binding> Bindings::await(const fabric::Attachment& attachment, Until until,
                                        Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto found = pending_.find(attachment);
  if (found == pending_.end()) return Error(Code::not_found, "no such binding was requested");
  PendingBinding& pending = found->second;
  ++pending.waiters;
  changed_.wait_until(lock, deadline.time(), [&] {
    return stopping_ || is_done(pending) || !pending.running ||
           (until == Until::granted && is_granted(pending));
  });
  --pending.waiters;
  return result_of(pending);
}

Result<fabric::Binding> Bindings::current(const fabric::Attachment& attachment) const {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(attachment);
  if (found == pending_.end()) return Error(Code::not_found, "no such binding was requested");
  return result_of(found->second);
}

bool Bindings::has_started_bind(const fabric::Attachment& attachment) const {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(attachment);
  return found != pending_.end() && found->second.bind_started;
}

bool Bindings::has_running() const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(pending_.begin(), pending_.end(),
                     [](const auto& one) { return one.second.running; });
}

Bindings::Revision Bindings::revision() const {
  const std::scoped_lock lock(mutex_);
  return revision_;
}

void Bindings::update_from_sync(const fabric::Binding& binding, Revision asked) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(binding.attachment);
  if (found == pending_.end() || !found->second.request) return;
  if (has_changed(found->second, asked)) return;
  found->second.last_known = binding;
  found->second.error.reset();
}

void Bindings::rebind(const fabricapi::BindRequest& request, Revision asked) {
  const std::scoped_lock lock(mutex_);
  const auto found = pending_.find(request.attachment);
  if (found != pending_.end() && has_changed(found->second, asked)) return;
  begin(request.attachment, request);
}

void Bindings::retain_only(const std::set<fabric::Attachment>& attachments, Revision asked) {
  const std::scoped_lock lock(mutex_);
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    PendingBinding& pending = entry->second;
    const bool known = attachments.contains(entry->first);
    if (!known && pending.running && pending.request && pending.changed_at <= asked)
      begin(entry->first, std::nullopt);
    if (known || has_changed(pending, asked)) {
      ++entry;
      continue;
    }
    if (pending.thread.joinable()) pending.thread.join();
    entry = pending_.erase(entry);
  }
}

}  // namespace ibpod::agent::sm_client
