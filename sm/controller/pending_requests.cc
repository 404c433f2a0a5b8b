#include "sm/controller/pending_requests.h"

namespace ibpod::sm::controller {
namespace {

// The answer for a binding that no longer exists.
fabric::Binding released_binding(const fabric::Attachment& attachment) {
  fabric::Binding binding;
  binding.attachment = attachment;
  binding.state = fabric::BindingState::released;
  return binding;
}

bool is_reached(PendingRequests::WaitFor what, fabric::BindingState state) {
  if (state == fabric::BindingState::released) return true;
  if (what == PendingRequests::WaitFor::released) return false;
  return state == fabric::BindingState::verified || state == fabric::BindingState::releasing;
}

}  // namespace

PendingRequests::~PendingRequests() { fail(Error(Code::unavailable, "the service ends")); }

void PendingRequests::add(const fabric::Attachment& attachment, WaitFor what, Time until,
                          Done done) {
  requests_.emplace(attachment, Request{what, until, std::move(done)});
  times_.insert(until);
}

PendingRequests::Request PendingRequests::take(Requests::iterator waiter) {
  Request taken = std::move(waiter->second);
  requests_.erase(waiter);
  times_.erase(times_.find(taken.until));
  return taken;
}

void PendingRequests::notify(const fabric::Binding& binding) {
  const auto [first, last] = requests_.equal_range(binding.attachment);
  std::vector<Request> reached;
  for (auto waiter = first; waiter != last;) {
    const auto next = std::next(waiter);
    if (is_reached(waiter->second.wait_for, binding.state)) reached.push_back(take(waiter));
    waiter = next;
  }
  for (const Request& waiter : reached) waiter.done(binding);
}

void PendingRequests::expire(
    Time now,
    const std::function<std::optional<fabric::Binding>(const fabric::Attachment&)>& binding) {
  if (times_.empty() || *times_.begin() > now) return;
  std::vector<std::pair<fabric::Attachment, Request>> late;
  for (auto waiter = requests_.begin(); waiter != requests_.end();) {
    const auto next = std::next(waiter);
    if (waiter->second.until <= now) {
      const fabric::Attachment attachment = waiter->first;
      late.emplace_back(attachment, take(waiter));
    }
    waiter = next;
  }
  for (const auto& [attachment, waiter] : late)
    waiter.done(binding(attachment).value_or(released_binding(attachment)));
}

std::optional<PendingRequests::Time> PendingRequests::due() const {
  return times_.empty() ? std::nullopt : std::optional(*times_.begin());
}

void PendingRequests::fail(const Error& error) {
  const Requests failed = std::exchange(requests_, {});
  times_.clear();
  for (const auto& [attachment, waiter] : failed) waiter.done(error);
}

}  // namespace ibpod::sm::controller
