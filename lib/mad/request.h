// A request to one node, and what may come of it.
#pragma once

#include "lib/base/clock.h"
#include "lib/mad/smp.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace ibpod::mad {

enum class RequestId : uint64_t {};

// The order of requests: those that take a key away come first, then those that give one, then
// those that only read.
enum class Urgency { revoke, bind, scan };
inline constexpr size_t kUrgencies = 3;

// How a request is made, beyond what is asked.
struct RetryPolicy {
  Urgency urgency = Urgency::scan;
  // By then it has ended, one way or another.
  Deadline deadline = Deadline::in(Duration(5000));
  // How long an answer is awaited before the packet counts as lost, and how often it is sent in
  // all. The time is the one that OpenSM allows by default.
  Duration timeout = Duration(200);
  int attempts = 3;
};

struct Request {
  Route route = Route::own();
  SmpRequest smp = {};
  RetryPolicy retry = {};
};

// Why there is no answer: a closed set, so that it may be the label of a metric.
enum class Reason {
  unreachable,    // the packet could not be sent, or others before it to the same place: our own
                  // device or port
  timeout,        // it was sent as often as the terms say, or others before it to the same place
                  // were, and nothing came back
  deadline,       // the deadline passed first: nothing is known
  refused,        // the node says no, and its status says why
  not_permitted,  // the node answers a Get and is silent to a Set: another M_Key than ours
  malformed,      // what came back is not an answer to what was asked
  cancelled,      // its caller cancelled it, or the scheduler ended
};
// unreachable, timeout … not permitted
std::string_view name(Reason reason);

struct Failure {
  Reason reason = Reason::timeout;
  uint16_t status = 0;  // of a refusal
  bool operator==(const Failure&) const = default;
  // "timeout", "refused: busy"
  std::string text() const;
};

// A value, or why there is none. After any failure but a refusal a Set may have been done all the
// same, or still be: packets can be late, and answers get lost.
template <typename Value>
using Outcome = std::variant<Value, Failure>;

template <typename Value>
const Value* value_of(const Outcome<Value>& outcome) {
  return std::get_if<Value>(&outcome);
}
template <typename Value>
const Failure* failure_of(const Outcome<Value>& outcome) {
  return std::get_if<Failure>(&outcome);
}

}  // namespace ibpod::mad
