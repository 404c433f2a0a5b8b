#include "sm/controller/pending_requests.h"

namespace ibpod::sm {
namespace {

// What a binding that there is not any more looks like to who waits for its end.
fabric::Binding gone(const fabric::Attachment& attachment) {
  fabric::Binding binding;
  binding.attachment = attachment;
  binding.state = fabric::State::released;
  return binding;
}

bool has_come(Waiting::For what, fabric::State state) {
  if (state == fabric::State::released) return true;
  if (what == Waiting::For::released) return false;
  return state == fabric::State::verified || state == fabric::State::releasing;
}

}  // namespace

Waiting::~Waiting() { fail(Error(Code::unavailable, "the service ends")); }

void Waiting::add(const fabric::Attachment& attachment, For what, Time until, Done done) {
  waiters_.emplace(attachment, Waiter{what, until, std::move(done)});
  times_.insert(until);
}

Waiting::Waiter Waiting::take(Waiters::iterator waiter) {
  Waiter taken = std::move(waiter->second);
  waiters_.erase(waiter);
  times_.erase(times_.find(taken.until));
  return taken;
}

void Waiting::tell(const fabric::Binding& binding) {
  const auto [first, last] = waiters_.equal_range(binding.attachment);
  std::vector<Waiter> told;
  for (auto waiter = first; waiter != last;) {
    const auto next = std::next(waiter);
    if (has_come(waiter->second.what, binding.state)) told.push_back(take(waiter));
    waiter = next;
  }
  for (const Waiter& waiter : told) waiter.done(binding);
}

void Waiting::expire(
    Time now,
    const std::function<std::optional<fabric::Binding>(const fabric::Attachment&)>& binding) {
  if (times_.empty() || *times_.begin() > now) return;
  std::vector<std::pair<fabric::Attachment, Waiter>> late;
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    const auto next = std::next(waiter);
    if (waiter->second.until <= now) {
      const fabric::Attachment attachment = waiter->first;
      late.emplace_back(attachment, take(waiter));
    }
    waiter = next;
  }
  for (const auto& [attachment, waiter] : late)
    waiter.done(binding(attachment).value_or(gone(attachment)));
}

std::optional<Waiting::Time> Waiting::due() const {
  return times_.empty() ? std::nullopt : std::optional(*times_.begin());
}

void Waiting::fail(const Error& error) {
  const Waiters failed = std::exchange(waiters_, {});
  times_.clear();
  for (const auto& [attachment, waiter] : failed) waiter.done(error);
}

}  // namespace ibpod::sm
