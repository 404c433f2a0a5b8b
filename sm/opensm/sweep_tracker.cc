#include "sm/opensm/sweep_tracker.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::opensm {

void SweepTracker::want(uint64_t version) { versions_.want(version); }

void SweepTracker::placed(uint64_t version) {
  versions_.write(version);
  if (sweeps_.idle()) versions_.place();
  sweeps_.file_written();
}

void SweepTracker::restored() {
  ++status_.restores;
  versions_.restore();
  if (sweeps_.idle()) versions_.place();
  sweeps_.file_written();
}

void SweepTracker::failed(Time now) { not_before_ = now + limits_.calm; }

void SweepTracker::edited() {
  ++status_.edits;
  versions_.invalidate_swept();
  sweeps_.request();
}

void SweepTracker::violated() {
  if (versions_.find_foreign()) ++status_.violations;
  sweeps_.doubt();
}

void SweepTracker::started(Time now) {
  gone();
  ++status_.starts;
  state_ = State::unknown;
  sweeps_.start(now);
}

void SweepTracker::adopted(const SweepTracker& log, Time now) {
  started(now);
  if (log.state_ != State::ended) state_ = log.state_;
  sweeps_.adopt(log.sweeps_, now);
  versions_.adopt(!sweeps_.idle());
  if (state_ == State::not_master) lose_mastership();
  mastered_ = mastered_ || log.mastered_;
}

void SweepTracker::gone() {
  const bool ran = state_ != State::ended;
  no_sweep(State::ended);
  sweeps_.end_process();
  if (ran) versions_.note_end();
}

void SweepTracker::hupped(Time now) {
  ++status_.hups;
  sweeps_.hupped(now);
}

void SweepTracker::lost() {
  if (sweeps()) sweeps_.lose_log();
}

// Another subnet manager writes the tables now.
void SweepTracker::lose_mastership() {
  if (!std::exchange(mastered_, false)) return;
  ++status_.losses;
  versions_.invalidate_swept();
}

void SweepTracker::no_sweep(State state) {
  state_ = state;
  sweeps_.stop();
  versions_.place();
}

void SweepTracker::begin_sweep(Time now) {
  sweeps_.begin(now, ours());
  versions_.note_begin();
  versions_.place();
}

void SweepTracker::end_sweep(Time now, bool whole) {
  state_ = State::master;
  mastered_ = true;
  const auto ended = sweeps_.end();
  versions_.place();
  if (!ended) return;
  ++status_.sweeps;
  if (!whole) ++status_.failed_sweeps;
  status_.last_sweep = std::chrono::duration_cast<Duration>(now - ended->began);
  if (!ended->read_file) return;
  versions_.note_swept();
  calm_ = Duration(0);
}

void SweepTracker::hear(LogMark mark, Time now) {
  if (state_ == State::ended) return;  // from a process that has ended
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
      ++status_.fail_opens;
      versions_.discard();
      sweeps_.doubt();
      not_before_ = now + calm_;
      calm_ = std::clamp(2 * calm_, limits_.calm, limits_.most_calm);
      return;
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

// When a waiting version may be written: between two sweeps, so that the next one reads everything
// desired by then. If each sweep begins when the last one ends, as with a port that never answers,
// it is written during a sweep, after it has waited for a whole one.
std::optional<SweepTracker::Time> SweepTracker::place_from() const {
  if (!versions_.waits()) return std::nullopt;
  if (!sweeps() || versions_.waited()) return not_before_;
  const auto gap = sweeps_.gap();
  return gap ? std::optional(std::max(not_before_, *gap)) : std::nullopt;
}

SweepTracker::Step SweepTracker::next(Time now) const {
  const auto from = place_from();
  if (from && now >= *from) return Step::place;
  if (!ours()) return now >= not_before_ ? Step::restore : Step::nothing;
  return sweeps() && sweeps_.hup_due(now) ? Step::hup : Step::nothing;
}

std::optional<SweepTracker::Time> SweepTracker::alarm() const {
  std::optional<Time> first = place_from();
  const auto at = [&](std::optional<Time> time) {
    if (time) first = first ? std::min(*first, *time) : time;
  };
  if (!ours()) at(not_before_);
  if (ours() && sweeps()) at(sweeps_.alarm());
  return first;
}

engine::EngineStatus SweepTracker::standing() const {
  engine::EngineStatus status = status_;
  status.placed = versions_.placed();
  status.swept = versions_.swept();
  if (state_ == State::ended) {
    status.health = engine::Health::gone;
  } else if (versions_.discarded()) {
    status.health = engine::Health::failed_open;
  } else if (sweeps_.stuck()) {
    status.health = engine::Health::stuck;
  } else if (state_ == State::not_master || state_ == State::port_down) {
    status.health = engine::Health::not_master;
  } else if (state_ == State::master) {
    status.health = engine::Health::serving;
  }
  return status;
}

}  // namespace ibpod::sm::opensm
