// RequestQueue: the requests that wait to be sent, and which of them is next.
//
// More urgent requests go first, of one urgency in the order they came. Few packets are on their
// way to one destination at once, and only one after it did not answer one (PerDestinationLimit):
// the other requests are held until a packet has been answered or lost. A revoke is never held, and
// so does not wait until silent ports have been given up.
#pragma once

#include "lib/mad/request.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ibpod::mad {

struct PerDestinationLimit {
  size_t packets = 4;
  size_t when_silent = 1;
  size_t remembered = 4096;  // silent destinations without a packet on the wire
};

class RequestQueue {
 public:
  using Time = Deadline::Clock::time_point;

  explicit RequestQueue(const PerDestinationLimit& limit) : limit_(limit) {}

  void push_back(RequestId id, const Request& request);
  // For a request that was tried: it is older than the others of its urgency.
  void push_front(RequestId id, const Request& request);
  // Takes out the next request. `has_room`: true if the window allows a packet of this urgency; if
  // not, less urgent requests wait, too.
  std::optional<RequestId> next(const std::function<bool(Urgency)>& has_room);
  // A request to `route` has ended, in the queue or not. Others that wait for it may be sent.
  void remove(RequestId id, const Route& route);

  // --- the packets to a destination: each is sent once, and then answered or lost

  void sent(const Route& route);
  // `on_wire` false: the answer is late, the packet is lost already.
  void answered(const Route& route, bool on_wire);
  // A packet that was sent at `sent` has not been answered. Returns the held requests that have no
  // more attempts than the destination was silent in a row: each would wait for its own timeouts,
  // one after the other. Packets that were on the wire together count once. Call lost() after these
  // have ended; else the room that they leave would be filled at once.
  std::vector<RequestId> note_silence(const Route& route, Time sent, Time now);
  void lost(const Route& route);

 private:
  struct Waiting {
    Route route = Route::own();
    Urgency urgency = Urgency::scan;
    size_t attempts = 0;  // in all
  };
  // Held requests are in no queue; while there are some, a packet is on the wire.
  struct Destination {
    size_t on_wire = 0;
    size_t silences = 0;        // since the last answer
    Time silent = Time::min();  // when the last one was noticed
    std::array<std::deque<RequestId>, kUrgencies> held;
  };
  using Destinations = std::map<Route, Destination>;

  bool hold(RequestId id, const Waiting& request);
  void release(const Route& route);
  void leave(Destinations::iterator target);
  size_t room_at(const Destination& destination) const;

  PerDestinationLimit limit_;
  std::unordered_map<RequestId, Waiting> waiting_;  // in a queue or held
  std::array<std::deque<RequestId>, kUrgencies> queues_;
  Destinations destinations_;                     // with packets on the wire, or silent
  std::set<std::pair<Time, Route>> left_silent_;  // those without any, by when they were last
};

}  // namespace ibpod::mad
