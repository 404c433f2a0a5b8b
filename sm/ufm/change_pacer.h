// ChangePacer: decides when UFM may be changed again, so that changes come together, and the sweeps
// of UFM's OpenSM have time to end: it may begin its discovery again with each change (the rule of
// opensm::SweepTracker). UFM shows no sweep. A change is known to be in force only when the table
// of a port that it added shows it; without that sign the next change comes after a pause.
//
// The pause follows what was measured: the time that a change took until it was in force while no
// other one disturbed it. It begins with half of that. While changes that overlap are in force in
// time nevertheless, UFM collects them itself, and the pause gets shorter. If one is late, they may
// have disturbed each other, and the pause gets a little longer than that time, so that they do not
// overlap; then it gets shorter slowly, to find out again. Lateness has other causes, too, so it
// never makes the pause longer than that. No clock: the time is an argument.
#pragma once

#include "lib/base/clock.h"
#include "lib/ib/guid.h"

#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace ibpod::sm::ufm {

class ChangePacer {
 public:
  using Time = Deadline::Clock::time_point;
  // The limits of the pause; `first`: until something was measured.
  struct Limits {
    Duration first{1000};
    Duration least{200};
    Duration most{10'000};
  };

  explicit ChangePacer(const Limits& limits) : limits_(limits), pause_(limits.first) {}

  // UFM was changed, or may have been; `added`: the ports that it was given. `begins`: a new batch,
  // which is what UFM gets between two readings. After the first call, the others of a batch follow
  // without a pause.
  void changed(bool begins, const std::vector<ib::Guid>& added, Time now);
  // The port's table shows what UFM was given for it.
  void in_force(ib::Guid port, Time now);
  // Notes what is late. To be called before may_begin().
  void advance(Time now);

  // A new batch may be sent: there was none, the last one is in force, or the pause is over.
  bool may_begin(Time now) const { return !due() || now >= *due(); }
  // When may_begin() becomes true without a sign; nothing: it is.
  std::optional<Time> due() const;
  Duration pause() const { return pause_; }

 private:
  struct Batch {
    Time since{};
    std::set<ib::Guid> added = {};
    bool preceded = false;  // by one that was not in force
    bool followed = false;  // by one, before it was in force: if late, it was disturbed
    enum { in_time, late, lost } counted = in_time;
  };
  bool is_late(const Batch& batch, Time now) const;
  bool is_lost(const Batch& batch, Time now) const;
  void slow_down();
  void set_pause(Duration pause);

  Limits limits_;
  Duration pause_;
  std::optional<Duration> undisturbed_;  // the time to be in force of a batch that was alone
  std::deque<Batch> batches_;            // not in force yet, the newest last
  std::optional<Time> last_;             // the last change, unless it is in force
};

}  // namespace ibpod::sm::ufm
