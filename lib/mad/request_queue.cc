#include "lib/mad/request_queue.h"

#include <algorithm>

namespace ibpod::mad {
namespace {

size_t index(Urgency urgency) { return static_cast<size_t>(urgency); }

}  // namespace

void RequestQueue::push_back(RequestId id, const Request& request) {
  const RetryPolicy& retry = request.retry;
  waiting_[id] = {request.route, retry.urgency, static_cast<size_t>(retry.attempts)};
  queues_[index(retry.urgency)].push_back(id);
}

void RequestQueue::push_front(RequestId id, const Request& request) {
  const RetryPolicy& retry = request.retry;
  waiting_[id] = {request.route, retry.urgency, static_cast<size_t>(retry.attempts)};
  queues_[index(retry.urgency)].push_front(id);
}

// Requests that have ended meanwhile are still in their queue.
std::optional<RequestId> RequestQueue::next(const std::function<bool(Urgency)>& has_room) {
  for (size_t urgency = 0; urgency < kUrgencies; ++urgency) {
    auto& queue = queues_[urgency];
    while (!queue.empty()) {
      const RequestId id = queue.front();
      const auto found = waiting_.find(id);
      const bool wanted = found != waiting_.end();
      if (wanted && !has_room(static_cast<Urgency>(urgency))) return std::nullopt;
      queue.pop_front();
      if (!wanted || hold(id, found->second)) continue;
      waiting_.erase(found);
      return id;
    }
  }
  return std::nullopt;
}

size_t RequestQueue::room_at(const Destination& destination) const {
  const size_t most = destination.silences != 0 ? limit_.when_silent : limit_.packets;
  return most - std::min(most, destination.on_wire);
}

// True: it waits until another packet to the same destination has been answered or lost.
bool RequestQueue::hold(RequestId id, const Waiting& request) {
  const auto target = destinations_.find(request.route);
  if (target == destinations_.end() || request.urgency == Urgency::revoke) return false;
  if (room_at(target->second) != 0) return false;
  target->second.held[index(request.urgency)].push_back(id);
  return true;
}

// Those that may go now go back to where they came from; next() holds what is too many.
void RequestQueue::release(const Route& route) {
  const auto target = destinations_.find(route);
  if (target == destinations_.end()) return;
  size_t room = room_at(target->second);
  for (size_t urgency = 0; urgency < kUrgencies; ++urgency) {
    auto& held = target->second.held[urgency];
    std::vector<RequestId> released;
    for (; !held.empty() && released.size() < room; held.pop_front()) {
      if (waiting_.contains(held.front())) released.push_back(held.front());
    }
    room -= released.size();
    queues_[urgency].insert(queues_[urgency].begin(), released.begin(), released.end());
  }
  const auto& held = target->second.held;
  const bool none =
      std::all_of(held.begin(), held.end(), [](const auto& ids) { return ids.empty(); });
  if (none && target->second.on_wire == 0) leave(target);
}

// A silent destination is remembered until `remembered` others have been silent since.
void RequestQueue::leave(Destinations::iterator target) {
  const auto& [route, left] = *target;
  if (left.silences != 0) {
    left_silent_.emplace(left.silent, route);
    if (left_silent_.size() <= limit_.remembered) return;
    const auto oldest = left_silent_.begin();
    destinations_.erase(oldest->second);
    left_silent_.erase(oldest);
  } else {
    left_silent_.erase({left.silent, route});
    destinations_.erase(target);
  }
}

void RequestQueue::remove(RequestId id, const Route& route) {
  waiting_.erase(id);
  release(route);
}

void RequestQueue::sent(const Route& route) {
  Destination& destination = destinations_[route];
  left_silent_.erase({destination.silent, route});
  ++destination.on_wire;
}

void RequestQueue::answered(const Route& route, bool on_wire) {
  Destination& destination = destinations_[route];
  destination.silences = 0;
  if (on_wire) --destination.on_wire;
  release(route);
}

std::vector<RequestId> RequestQueue::note_silence(const Route& route, Time sent, Time now) {
  Destination& destination = destinations_[route];
  if (sent >= destination.silent) {
    ++destination.silences;
    destination.silent = now;
  }
  std::vector<RequestId> given_up;
  for (const auto& held : destination.held) {
    for (const RequestId id : held) {
      const auto found = waiting_.find(id);
      if (found != waiting_.end() && found->second.attempts <= destination.silences)
        given_up.push_back(id);
    }
  }
  return given_up;
}

void RequestQueue::lost(const Route& route) {
  --destinations_[route].on_wire;
  release(route);
}

}  // namespace ibpod::mad
