#include "sm/opensm/sweep_tracker.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::opensm {

void SweepTracker::want(uint64_t version) {
  if (!waits()) begun_ = 0;
  wanted_ = std::max(wanted_, version);
}

void SweepTracker::placed(uint64_t version) {
  written_ = version;
  begun_ = 0;
  is_in_place();
}

void SweepTracker::restored() {
  ++status_.restores;
  is_in_place();
}

void SweepTracker::is_in_place() {
  file_ = File::ours;
  if (sweep_ == Sweep::none) status_.placed = written_;
  hup_due_ = true;
  doubt_sweep();
  // If the log never showed a sweep, no version waits for one.
  if (!heard_ && expected_ == Expected::sweep_of_hup) expected_ = Expected::nothing;
  unheard_ = 0;
}

// From now on every sweep reads the file in place.
void SweepTracker::no_older_sweep() {
  if (sweep_ == Sweep::unsure) sweep_ = Sweep::none;
  if (file_ != File::foreign) status_.placed = written_;
}

void SweepTracker::failed(Time now) { not_before_ = now + limits_.calm; }

void SweepTracker::edited() {
  ++status_.edits;
  status_.swept = 0;
  hup_due_ = true;
  doubt_sweep();
}

void SweepTracker::violated() {
  if (file_ != File::foreign) ++status_.violations;
  file_ = File::foreign;
  doubt_sweep();
  status_.placed = status_.swept = 0;
}

void SweepTracker::started(Time now) {
  gone();
  ++status_.starts;
  running_ = true;
  expected_ = Expected::first_sweep;
  since_ = now;
  hup_due_ = false;
}

void SweepTracker::adopted(const SweepTracker& log, Time now) {
  started(now);
  expected_ = Expected::nothing;
  state_ = log.state_;
  heard_ = log.heard_;
  sweep_ = log.sweeping() ? Sweep::running : heard_ ? Sweep::none : Sweep::unsure;
  began_ = since_ = now;
  // A sweep may have begun at any time since the last OpenSM ended.
  if (sweep_ != Sweep::none) status_.placed = std::min(status_.placed, at_end_);
  status_.swept = std::min(status_.swept, status_.placed);
  if (state_ == State::not_master) lose_mastership();
  mastered_ = mastered_ || log.mastered_;
  hup_due_ = true;
}

void SweepTracker::gone() {
  no_sweep(State::unknown);
  if (running_) at_end_ = status_.placed;
  running_ = heard_ = false;
}

void SweepTracker::hupped(Time now) {
  ++status_.hups;
  ++unheard_;
  // A sweep that does not end gets the same time again, so that not every HUP interrupts it.
  stuck_ = late(now);
  hup_due_ = false;
  expected_ = sweeping() ? Expected::nothing : Expected::sweep_of_hup;
  since_ = now;
}

void SweepTracker::lost() {
  if (!sweeps()) return;
  // A sweep may be running. At worst, one is interrupted once.
  sweep_ = Sweep::unsure;
  if (expected_ == Expected::sweep_of_hup) expected_ = Expected::nothing;
  hup_due_ = true;
}

// Another subnet manager writes the tables now.
void SweepTracker::lose_mastership() {
  if (!std::exchange(mastered_, false)) return;
  ++status_.losses;
  status_.swept = 0;
}

void SweepTracker::no_sweep(State state) {
  state_ = state;
  sweep_ = Sweep::none;
  expected_ = Expected::nothing;
  stuck_ = false;
  no_older_sweep();
}

void SweepTracker::fail_open(Time now) {
  ++status_.fail_opens;
  status_.swept = 0;
  open_ = true;
  if (file_ == File::ours) file_ = File::to_restore;
  doubt_sweep();
  not_before_ = now + calm_;
  calm_ = std::clamp(2 * calm_, limits_.calm, limits_.most_calm);
}

void SweepTracker::begin_sweep(Time now) {
  sweep_ = ours() ? Sweep::proving : Sweep::running;
  heard_ = true;
  hup_due_ = hup_due_ && !ours();
  expected_ = Expected::nothing;
  unheard_ = 0;
  began_ = since_ = now;
  if (waits()) ++begun_;
  no_older_sweep();
}

void SweepTracker::end_sweep(Time now, bool whole) {
  state_ = State::master;
  mastered_ = true;
  no_older_sweep();
  if (!sweeping()) return;  // its beginning was lost
  const bool proves = std::exchange(sweep_, Sweep::none) == Sweep::proving;
  stuck_ = false;
  ++status_.sweeps;
  if (!whole) ++status_.failed_sweeps;
  status_.last_sweep = std::chrono::duration_cast<Duration>(now - began_);
  if (!proves) return;
  status_.swept = status_.placed;
  open_ = false;
  calm_ = Duration(0);
}

void SweepTracker::hear(LogMark mark, Time now) {
  if (!running_) return;  // from a process that has ended
  switch (mark) {
    case LogMark::sweep_begins:
      // While its port is down, OpenSM only checks whether it is up.
      if (state_ != State::port_down) begin_sweep(now);
      return;
    case LogMark::port_up:  // reported during a sweep, which goes on
      if (state_ != State::port_down) return;
      state_ = State::unknown;
      return begin_sweep(now);
    case LogMark::subnet_up:
      return end_sweep(now, true);
    case LogMark::sweep_failed:
      return end_sweep(now, false);
    case LogMark::default_config:
      return fail_open(now);
    case LogMark::table_full:
      ++status_.full_tables;
      return;
    case LogMark::enforcement_lost:
      ++status_.enforcement_lost;
      return;
    case LogMark::master:
      state_ = State::master;
      mastered_ = true;
      return;
    case LogMark::discovering:
      if (state_ != State::port_down) state_ = State::unknown;
      return;
    case LogMark::standby:
    case LogMark::not_active:
      lose_mastership();
      return no_sweep(State::not_master);
    case LogMark::exiting:
      return no_sweep(State::not_master);
    case LogMark::port_down:
      return no_sweep(State::port_down);
  }
}

bool SweepTracker::late(Time now) const {
  const bool in_sweep = sweeping() || expected_ == Expected::first_sweep;
  return (expected_ == Expected::sweep_of_hup && now >= since_ + limits_.begin) ||
         (in_sweep && now >= since_ + limits_.end);
}

// When a waiting version may be written: between two sweeps, so that the next one reads everything
// desired by then. If each sweep begins when the last one ends, as with a port that never answers,
// it is written during a sweep, after it has waited for a whole one.
std::optional<SweepTracker::Time> SweepTracker::place_from() const {
  const bool hup_out = expected_ == Expected::sweep_of_hup;
  if (!sweeps() || (!sweeping() && !hup_out) || begun_ >= 2) return not_before_;
  if (hup_out && !heard_) return std::max(not_before_, since_ + limits_.begin);
  return std::nullopt;
}

SweepTracker::Step SweepTracker::next(Time now) const {
  if (waits()) {
    const auto from = place_from();
    if (from && now >= *from) return Step::place;
  }
  if (!ours()) return now >= not_before_ ? Step::restore : Step::nothing;
  if (!sweeps()) return Step::nothing;
  if (late(now) && may_ask_again()) return Step::hup;
  // An OpenSM that has just been started sweeps by itself; a signal before it is set up would end
  // it.
  return hup_due_ && !sweeping() && expected_ == Expected::nothing ? Step::hup : Step::nothing;
}

std::optional<SweepTracker::Time> SweepTracker::alarm() const {
  std::optional<Time> first;
  const auto at = [&](bool set, Time time) {
    if (set) first = first ? std::min(*first, time) : time;
  };
  if (waits() && place_from()) at(true, *place_from());
  at(!ours(), not_before_);
  const bool asks = sweeps() && ours() && may_ask_again();
  at(asks && expected_ == Expected::sweep_of_hup, since_ + limits_.begin);
  at(asks && (sweeping() || expected_ == Expected::first_sweep), since_ + limits_.end);
  return first;
}

EngineStatus SweepTracker::standing() const {
  EngineStatus status = status_;
  if (!running_) {
    status.health = Health::gone;
  } else if (open_) {
    status.health = Health::failed_open;
  } else if (stuck_) {
    status.health = Health::stuck;
  } else if (state_ == State::not_master || state_ == State::port_down) {
    status.health = Health::not_master;
  } else if (state_ == State::master) {
    status.health = Health::serving;
  }
  return status;
}

}  // namespace ibpod::sm::opensm
