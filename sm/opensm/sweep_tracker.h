// SweepTracker: decides when OpenSM's file may be replaced and when a sweep may be requested, so
// that changes come together, no sweep is interrupted, and the end of a sweep shows the version
// that it has read. No I/O: the caller reports events and asks for the next step.
//
// A sweep that began before a version was in place may still write the last one. So the version
// counts as placed (EngineStatus) only when that sweep is over.
//
// This relies on OpenSM 3.3.23, osm_state_mgr.c: a heavy sweep logs its start, discovers the
// subnet, reads partitions.conf, writes the tables, and logs its end. A SIGHUP during discovery
// restarts the discovery; a later one is served after the sweep.
#pragma once

#include "sm/opensm/opensm_log.h"
#include "sm/opensm/subnet_manager.h"

#include <chrono>
#include <optional>

namespace ibpod::sm::opensm {

class SweepTracker {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Limits {
    Duration begin{2000};  // from a SIGHUP to the beginning of its sweep
    Duration end{60000};   // from there to its end
    Duration calm{1000};   // between restores that do not help; doubles
    Duration most_calm{30000};
  };
  enum class Step {
    nothing,
    place,    // put the newest version in place, then call placed() or failed()
    restore,  // put the last version in place again, then call restored() or failed()
    hup,      // send SIGHUP, then call hupped()
  };
  enum class State { unknown, master, not_master, port_down };

  explicit SweepTracker(Limits limits) : limits_(limits) {}

  void want(uint64_t version);
  // The file is in place, and the log has been read to its end since: a sweep reported from now on
  // has not read the earlier file.
  void placed(uint64_t version);
  void restored();
  // The step failed, and comes again later.
  void failed(Time now);
  // A file that is not ours was found in place.
  void violated();
  // The file in place is ours, but the administrator's section has changed.
  void edited();
  // OpenSM has just been started with the file in place: its first sweep comes by itself.
  void started(Time now);
  // OpenSM was running already; `log` is a tracker that has heard its log.
  void adopted(const SweepTracker& log, Time now);
  void gone();
  void hupped(Time now);
  // Part of the log is lost.
  void lost();
  void hear(LogMark mark, Time now);

  Step next(Time now) const;
  // When next() may change without an event.
  std::optional<Time> alarm() const;

  // The status, without `trouble`; its health is as far as OpenSM's log shows it.
  EngineStatus standing() const;
  State state() const { return state_; }
  // True if the last inspection found our file in place.
  bool ours() const { return file_ == File::ours; }
  uint64_t wanted() const { return wanted_; }

 private:
  enum class Sweep {
    none,
    unsure,   // the log does not show whether one is running
    running,  // it may have read an earlier file
    proving,  // it is running, and reads exactly the placed version
  };
  // The sweep whose beginning the log has not shown yet.
  enum class Expected { nothing, first_sweep, sweep_of_hup };
  enum class File {
    ours,
    to_restore,  // OpenSM has discarded it
    foreign,     // one that is not ours is in place
  };

  void is_in_place();
  void no_older_sweep();
  void begin_sweep(Time now);
  void end_sweep(Time now, bool whole);
  void no_sweep(State state);
  void lose_mastership();
  void fail_open(Time now);
  bool late(Time now) const;
  bool sweeping() const { return sweep_ == Sweep::running || sweep_ == Sweep::proving; }
  // The running sweep, if there is one, may have read another file than the one in place.
  void doubt_sweep() {
    if (sweep_ == Sweep::proving) sweep_ = Sweep::running;
  }
  bool waits() const { return wanted_ > written_; }
  bool may_ask_again() const { return heard_ || unheard_ < 2; }
  bool sweeps() const { return running_ && (state_ == State::unknown || state_ == State::master); }
  std::optional<Time> place_from() const;

  Limits limits_;
  uint64_t wanted_ = 0;
  uint64_t written_ = 0;  // the version in the file
  uint64_t at_end_ = 0;   // in the file when the last OpenSM ended
  bool running_ = false;
  State state_ = State::unknown;
  bool mastered_ = false;  // ours was master, and no other one since
  Sweep sweep_ = Sweep::none;
  int begun_ = 0;       // sweeps since the oldest waiting version was wanted
  bool heard_ = false;  // a beginning of a sweep, ever
  int unheard_ = 0;     // HUPs without a beginning of a sweep
  bool hup_due_ = false;
  Expected expected_ = Expected::nothing;
  Time since_{};  // the last of: OpenSM's start, a HUP, a sweep's beginning
  Time began_{};
  File file_ = File::ours;
  bool open_ = false;  // OpenSM has discarded the file, and not read a good one since
  bool stuck_ = false;
  Duration calm_{0};
  Time not_before_{};  // earliest next place or restore
  EngineStatus status_;
};

}  // namespace ibpod::sm::opensm
