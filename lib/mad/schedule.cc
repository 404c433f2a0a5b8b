#include "lib/mad/schedule.h"

#include <algorithm>
#include <tuple>

namespace ibpod::mad {
namespace {

bool answers(const SmpResponse& answer, const Request& request) {
  return answer.directed == request.route.directed() && answer.attribute == request.smp.attribute &&
         answer.modifier == request.smp.modifier;
}

}  // namespace

Schedule::Schedule(size_t window, std::function<uint32_t()> number,
                   const PerDestinationLimit& per_destination)
    : window_(window), number_(std::move(number)), queue_(per_destination) {}

RequestId Schedule::add(Request request) {
  const RequestId id{++last_id_};
  queue_.push_back(id, request);
  deadlines_.emplace(request.retry.deadline.time(), id);
  requests_.emplace(id, PendingRequest{.request = std::move(request), .transactions = {}});
  return id;
}

void Schedule::cancel(RequestId id) {
  if (requests_.contains(id)) end(id, Failure{Reason::cancelled, 0});
}

bool Schedule::has_room(Urgency urgency) const {
  const size_t window = window_.size();
  if (urgency == Urgency::revoke) return losses_.size() <= window;
  if (urgency == Urgency::bind) return losses_.size() < window;
  return losses_.size() < std::max<size_t>(window - window / 4, 1);
}

std::optional<Schedule::OutgoingPacket> Schedule::next(Time now) {
  const auto id = queue_.next([this](Urgency urgency) { return has_room(urgency); });
  if (!id) return std::nullopt;
  return begin_attempt(*id, requests_.at(*id), now);
}

uint32_t Schedule::new_transaction() {
  while (true) {
    const uint32_t number = number_();
    if (!attempts_.contains(number)) return number;
  }
}

Schedule::OutgoingPacket Schedule::begin_attempt(RequestId id, PendingRequest& pending, Time now) {
  const Request& request = pending.request;
  const uint32_t transaction = new_transaction();
  const Time due = now + request.retry.timeout;
  const auto wanted =
      request.retry.timeout * std::max(request.retry.attempts - pending.attempts, 1);
  ++pending.attempts;
  pending.queued = false;
  pending.last = {Reason::timeout, 0};
  pending.transactions.push_back(transaction);
  attempts_.emplace(transaction, Attempt{id, request.route, now, due});
  queue_.sent(request.route);
  losses_.emplace(due, transaction);
  ++counts_.sent;
  return {transaction, encode(request.smp, request.route, transaction), request.route, wanted};
}

void Schedule::not_sent(uint32_t transaction) {
  const auto attempt = attempts_.find(transaction);
  if (attempt == attempts_.end()) return;
  attempt->second.unanswered = {Reason::unreachable, 0};
  const auto asked = requests_.find(attempt->second.id);
  if (asked != requests_.end()) asked->second.last = attempt->second.unanswered;
}

// The attempt that the arrival speaks of. By LID a node answers from the LID that it was asked by.
Schedule::Attempts::iterator Schedule::awaited(const Arrival& arrival) {
  const auto attempt = attempts_.find(transaction_of(arrival.mad));
  if (attempt == attempts_.end()) return attempt;
  const auto asked = requests_.find(attempt->second.id);
  if (asked == requests_.end() || !arrival.answered) return attempt;
  const Route& route = asked->second.request.route;
  const bool other = !route.directed() && arrival.source && *arrival.source != route.lid();
  return other ? attempts_.end() : attempt;
}

void Schedule::arrived(const Arrival& arrival, Time now) {
  const auto found = awaited(arrival);
  const bool known = found != attempts_.end();
  if (!arrival.answered) {
    if (known && found->second.on_wire) lose(found->first, now);
  } else if (!known || std::exchange(found->second.answered, true)) {
    ++counts_.stray;
  } else {
    answered(found->first, parse_response(arrival.mad));
  }
}

void Schedule::answered(uint32_t transaction, const Result<SmpResponse>& answer) {
  Attempt& attempt = attempts_.at(transaction);
  const auto [id, due, on_wire] = std::tuple(attempt.id, attempt.due, attempt.on_wire);
  if (on_wire) window_.answered();
  queue_.answered(attempt.route, on_wire);
  take_off_wire(transaction, attempt);
  ++counts_.answered;
  const auto asked = requests_.find(id);
  if (asked == requests_.end()) return;
  if (!answer || !answers(*answer, asked->second.request)) {
    ++counts_.malformed;
    asked->second.last = {Reason::malformed, 0};
    try_again(id, asked->second);
  } else if (answer->status == 0) {
    end(id, answer->data);
  } else if ((answer->status & kStatusBusy) == 0) {
    end(id, Failure{Reason::refused, answer->status});
  } else {
    asked->second.last = {Reason::refused, answer->status};
    if (on_wire) rest(id, asked->second, due);
  }
}

// The node is busy: the request is asked again, or ends, when the time for its answer is over.
void Schedule::rest(RequestId id, PendingRequest& pending, Time until) {
  pending.queued = true;
  pending.rests_until = until;
  rests_.emplace(until, id);
}

void Schedule::wake(RequestId id, PendingRequest& pending) {
  rests_.erase({pending.rests_until, id});
  pending.queued = false;
  try_again(id, pending);
}

// An attempt of a request that has ended is removed without a trace.
void Schedule::take_off_wire(uint32_t transaction, Attempt& attempt) {
  losses_.erase({attempt.due, transaction});
  attempt.on_wire = false;
  if (!requests_.contains(attempt.id)) attempts_.erase(transaction);
}

void Schedule::lose(uint32_t transaction, Time now) {
  Attempt& attempt = attempts_.at(transaction);
  const RequestId id = attempt.id;
  window_.lost(attempt.sent, now);
  ++counts_.lost;
  for (const RequestId held : queue_.note_silence(attempt.route, attempt.sent, now))
    end(held, attempt.unanswered);
  queue_.lost(attempt.route);
  take_off_wire(transaction, attempt);
  const auto asked = requests_.find(id);
  if (asked != requests_.end()) try_again(id, asked->second);
}

// A request that was tried goes to the front of its queue: it is older.
void Schedule::try_again(RequestId id, PendingRequest& pending) {
  if (pending.queued) return;  // the answer was to an attempt given up already
  const auto on_wire = [this](uint32_t transaction) { return attempts_.at(transaction).on_wire; };
  if (std::any_of(pending.transactions.begin(), pending.transactions.end(), on_wire)) return;
  if (pending.attempts >= pending.request.retry.attempts) {
    end(id, pending.last);
    return;
  }
  pending.queued = true;
  queue_.push_front(id, pending.request);
}

void Schedule::end(RequestId id, Outcome<Data> outcome) {
  const auto asked = requests_.extract(id);
  deadlines_.erase({asked.mapped().request.retry.deadline.time(), id});
  rests_.erase({asked.mapped().rests_until, id});
  for (const uint32_t transaction : asked.mapped().transactions) {
    if (!attempts_.at(transaction).on_wire) attempts_.erase(transaction);
  }
  queue_.remove(id, asked.mapped().request.route);
  ended_.push_back({id, std::move(outcome)});
}

void Schedule::pass(Time now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    end(deadlines_.begin()->second, Failure{Reason::deadline, 0});
  while (!losses_.empty() && losses_.begin()->first <= now) lose(losses_.begin()->second, now);
  while (!rests_.empty() && rests_.begin()->first <= now)
    wake(rests_.begin()->second, requests_.at(rests_.begin()->second));
}

std::optional<Schedule::Time> Schedule::due() const {
  std::optional<Time> due;
  if (!losses_.empty()) due = losses_.begin()->first;
  if (!rests_.empty()) due = std::min(due.value_or(Time::max()), rests_.begin()->first);
  if (!deadlines_.empty()) due = std::min(due.value_or(Time::max()), deadlines_.begin()->first);
  return due;
}

std::vector<Schedule::CompletedRequest> Schedule::take_ended() { return std::exchange(ended_, {}); }

Counts Schedule::counts() const {
  Counts counts = counts_;
  counts.on_wire = losses_.size();
  counts.window = window_.size();
  for (const auto& [id, asked] : requests_) counts.waiting += asked.queued ? 1 : 0;
  return counts;
}

}  // namespace ibpod::mad
