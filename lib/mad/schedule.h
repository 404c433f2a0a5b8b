// Schedule: decides when a packet is sent, and the result of those that were sent. It has no I/O,
// no thread and no clock: the caller passes the time. scheduler.h runs one over a channel.
//
// The queue (request_queue.h) says which request is next. The window (window.h) counts packets that
// are on the wire, those of requests that have ended among them, until they are answered or lost.
// Scans leave a quarter of it free, and a revoke may be one packet more than it allows. A request
// that is held while the destination is silent as many times in a row as the request has attempts
// ends as the last of them, without being sent, so that a silent port does not take the window from
// the others. A node that answers that it is busy is asked again when the time for its answer is
// over.
#pragma once

#include "lib/mad/channel.h"
#include "lib/mad/request.h"
#include "lib/mad/request_queue.h"
#include "lib/mad/window.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ibpod::mad {

// Counts since the start, unless "now" is said.
struct Counts {
  uint64_t sent = 0;       // packets, repeated ones too
  uint64_t answered = 0;   // packets
  uint64_t lost = 0;       // packets
  uint64_t malformed = 0;  // arrivals that were answers to something else than was asked
  uint64_t stray = 0;      // answers to no waiting request: late, repeated, or another program's
  size_t waiting = 0;      // requests that are not on the wire, now
  size_t on_wire = 0;      // packets, now
  size_t window = 0;       // packets, now
};

class Schedule {
 public:
  using Time = Deadline::Clock::time_point;

  // A packet that is to be sent now.
  struct OutgoingPacket {
    uint32_t transaction = 0;
    Mad mad = {};
    Route route = Route::own();
    Duration wanted{};
  };
  struct CompletedRequest {
    RequestId id{};
    Outcome<Data> outcome;
  };

  // `window` is the most packets on the wire. `number` gives transactions; it should be hard to
  // guess, so that no other node can answer a question that it has not seen.
  Schedule(size_t window, std::function<uint32_t()> number,
           const PerDestinationLimit& per_destination = {});

  RequestId add(Request request);
  // Nothing happens where it has ended.
  void cancel(RequestId id);

  // The next packet that the window allows.
  std::optional<OutgoingPacket> next(Time now);
  // The channel did not take it: it counts as lost in its time, so that a broken channel is not
  // asked without pause.
  void not_sent(uint32_t transaction);
  void arrived(const Arrival& arrival, Time now);
  // Gives up what is due by now.
  void pass(Time now);
  // When pass() has something to do next, if nothing arrives.
  std::optional<Time> due() const;

  // The requests that have ended since the last call. Each ends once.
  std::vector<CompletedRequest> take_ended();
  Counts counts() const;

 private:
  struct PendingRequest {
    Request request;
    int attempts = 0;
    bool queued = true;  // or rests
    Time rests_until{};
    // One for each attempt, lost ones too: their answers may be late.
    std::vector<uint32_t> transactions;
    Failure last = {};  // what the last attempt has come to
  };
  struct Attempt {
    RequestId id{};
    Route route = Route::own();
    Time sent;
    Time due;
    bool on_wire = true;
    bool answered = false;
    Failure unanswered = {};  // what it has come to if nothing arrives
  };
  using Attempts = std::unordered_map<uint32_t, Attempt>;
  using Requests = std::unordered_map<RequestId, PendingRequest>;

  bool has_room(Urgency urgency) const;
  OutgoingPacket begin_attempt(RequestId id, PendingRequest& pending, Time now);
  uint32_t new_transaction();
  void answered(uint32_t transaction, const Result<SmpResponse>& answer);
  void take_off_wire(uint32_t transaction, Attempt& attempt);
  void lose(uint32_t transaction, Time now);
  void rest(RequestId id, PendingRequest& pending, Time until);
  void wake(RequestId id, PendingRequest& pending);
  void try_again(RequestId id, PendingRequest& pending);
  void end(RequestId id, Outcome<Data> outcome);
  Attempts::iterator awaited(const Arrival& arrival);

  Window window_;
  std::function<uint32_t()> number_;
  uint64_t last_id_ = 0;
  Requests requests_;
  RequestQueue queue_;
  Attempts attempts_;
  std::set<std::pair<Time, uint32_t>> losses_;      // attempts on the wire, by when they are lost
  std::set<std::pair<Time, RequestId>> rests_;      // requests whose node is busy
  std::set<std::pair<Time, RequestId>> deadlines_;  // requests
  std::vector<CompletedRequest> ended_;
  Counts counts_;
};

}  // namespace ibpod::mad
