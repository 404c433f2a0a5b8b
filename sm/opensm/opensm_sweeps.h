// OpensmSweeps: OpenSM's sweeps, as its log shows them: which one is running, which one a SIGHUP
// has requested, and when the next SIGHUP is due.
#pragma once

#include "lib/base/clock.h"

#include <chrono>
#include <optional>

namespace ibpod::sm::opensm {

class OpensmSweeps {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Limits {
    Duration begin;  // from a SIGHUP to the beginning of its sweep
    Duration end;    // from there to its end
  };

  explicit OpensmSweeps(Limits limits) : limits_(limits) {}

  // OpenSM was started: its first sweep comes by itself.
  void start(Time now);
  // OpenSM was running already; `log` are the sweeps in its log.
  void adopt(const OpensmSweeps& log, Time now);
  // OpenSM does not sweep: another subnet manager is master, or its port is down.
  void stop();
  // OpenSM has ended.
  void end_process();

  // The log shows the beginning of a sweep. It reads the file in place if that is `ours`.
  void begin(Time now, bool ours);
  // The log shows the end of a sweep. Nothing if its beginning was lost.
  struct Ended {
    Time began;
    bool read_file;  // it has read exactly the file in place
  };
  std::optional<Ended> end();
  // A part of the log is lost.
  void lose_log();

  // A file was written: a sweep has to read it.
  void file_written();
  // A sweep has to begin after the running one, which may have read another file than the one in
  // place.
  void request();
  // The running sweep may have read another file than the one in place.
  void doubt();
  // The SIGHUP that was due was sent, or could not be sent.
  void hupped(Time now);

  // False also if the log does not show whether a sweep is running.
  bool running() const { return sweep_ == Sweep::running || sweep_ == Sweep::proving; }
  // True if no sweep is running.
  bool idle() const { return sweep_ == Sweep::none; }
  // True if the last SIGHUP was sent because a sweep did not begin, or did not end, in time.
  bool stuck() const { return stuck_; }
  // From when on no sweep is running or about to begin, so that the next one reads a file written
  // then. Nothing: not before an event.
  std::optional<Time> gap() const;
  bool hup_due(Time now) const;
  // When hup_due() becomes true without an event.
  std::optional<Time> alarm() const;

 private:
  enum class Sweep {
    none,
    unsure,   // the log does not show whether one is running
    running,  // it may have read an earlier file
    proving,  // it is running, and reads exactly the file in place
  };
  // The sweep whose beginning the log has not shown yet.
  enum class Expected { nothing, first_sweep, sweep_of_hup };

  std::optional<Time> late_from() const;
  bool may_ask_again() const { return heard_ || unheard_ < 2; }

  Limits limits_;
  Sweep sweep_ = Sweep::none;
  Expected expected_ = Expected::nothing;
  bool heard_ = false;  // a beginning of a sweep, of this process
  int unheard_ = 0;     // SIGHUPs without a beginning of a sweep
  bool due_ = false;
  bool stuck_ = false;
  Time since_{};  // the last of: OpenSM's start, a SIGHUP, a sweep's beginning
  Time began_{};
};

}  // namespace ibpod::sm::opensm
