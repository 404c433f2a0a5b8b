// PollSchedule: decides when the ports that a call waits for are read next. The caller passes the
// time and reads.
#pragma once

#include "lib/base/back_off.h"
#include "sm/probe/probe_result.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ibpod::sm::probe {

// A port is read again after `least`; while it does not change the interval doubles, up to `most`.
// It is at least twice as long as the last reading took.
struct PollPace {
  Duration least{5};
  Duration most{1000};
};

class PollSchedule {
 public:
  using Time = ProbeBatch::Time;

  explicit PollSchedule(const PollPace& pace) : pace_(pace) {}

  // Sets the ports to poll. A new one is due at once.
  void set(const std::set<ib::Guid>& ports, Time now);
  bool contains(ib::Guid port) const { return ports_.contains(port); }
  bool empty() const { return ports_.empty(); }

  // Returns the ports that are due. Each is under way until it has been read.
  std::vector<ib::Guid> take_due(Time now);
  void note_read(const ProbeResult& reading, Time begun, Time now);
  // After an event that may have changed them: all ports are due, those under way once more.
  void poll_all_now(Time now);
  void poll_now(ib::Guid port, Time now);
  // When the next port is due; nothing if all are under way, or there are none.
  std::optional<Time> next() const;

 private:
  struct Port {
    BackOff pauses;
    Time due = {};
    bool under_way = false;
    bool once_more = false;
    std::optional<ProbeResult> last = {};
  };
  void schedule(ib::Guid guid, Port& port, Time due);

  PollPace pace_;
  std::map<ib::Guid, Port> ports_;
  std::set<std::pair<Time, ib::Guid>> due_;
};

}  // namespace ibpod::sm::probe
