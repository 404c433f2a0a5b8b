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

#include "sm/engine/subnet_manager.h"
#include "sm/opensm/file_versions.h"
#include "sm/opensm/opensm_log.h"
#include "sm/opensm/opensm_sweeps.h"

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
  enum class State { ended, unknown, master, not_master, port_down };

  explicit SweepTracker(Limits limits) : limits_(limits), sweeps_({limits.begin, limits.end}) {}

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
  engine::EngineStatus standing() const;
  State state() const { return state_; }
  // True if the last inspection found our file in place.
  bool ours() const { return versions_.ours(); }
  uint64_t wanted() const { return versions_.wanted(); }

 private:
  void begin_sweep(Time now);
  void end_sweep(Time now, bool whole);
  void no_sweep(State state);
  void lose_mastership();
  bool sweeps() const { return state_ == State::unknown || state_ == State::master; }
  std::optional<Time> place_from() const;

  Limits limits_;
  FileVersions versions_;
  OpensmSweeps sweeps_;
  State state_ = State::ended;  // as far as the log shows it
  bool mastered_ = false;       // ours was master, and no other one since
  Duration calm_{0};
  Time not_before_{};            // earliest next place or restore
  engine::EngineStatus status_;  // the counts
};

}  // namespace ibpod::sm::opensm
