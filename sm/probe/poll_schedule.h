// PollSchedule: when the ports that a call waits for are read next. It only decides; the caller
// reads, and passes the time.
#pragma once

#include "sm/probe/probe_result.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ibpod::sm::probe {

// A port is read again after `least`, and the longer it stays as it is the later, up to `most`:
// each time after twice as long. Whatever takes long is read rarely: never sooner than after twice
// the time that the last reading has taken.
struct PollPace {
  Duration least{5};
  Duration most{1000};
};

class PollSchedule {
 public:
  using Time = ProbeBatch::Time;

  explicit PollSchedule(const PollPace& pace) : pace_(pace) {}

  // These and no others. One that was not among the last is due at once.
  void set(const std::set<ib::Guid>& ports, Time now);
  bool contains(ib::Guid port) const { return ports_.contains(port); }
  bool empty() const { return ports_.empty(); }

  // Those that are due; each is under way then, until it has been read.
  std::vector<ib::Guid> take_due(Time now);
  void note_read(const ProbeResult& reading, Time begun, Time now);
  // Something has happened that may have changed them: they are due, those under way once more.
  void poll_all_now(Time now);
  void poll_now(ib::Guid port, Time now);
  // When the next one is due; nothing where none is, but those under way.
  std::optional<Time> next() const;

 private:
  struct Port {
    Time due;
    Duration pause{};
    bool under_way = false;
    bool once_more = false;
    std::optional<ProbeResult> last;
  };
  void schedule(ib::Guid guid, Port& port, Time due);

  PollPace pace_;
  std::map<ib::Guid, Port> ports_;
  std::set<std::pair<Time, ib::Guid>> due_;
};

}  // namespace ibpod::sm::probe
