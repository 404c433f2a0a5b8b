#include "sm/engine/turn.h"

#include <algorithm>

namespace ibpod::sm {

void Turn::want(uint64_t version) { wanted_ = std::max(wanted_, version); }

void Turn::placed(uint64_t version) {
  counts_.placed = version;
  restore_due_ = false;
  edited();
}

void Turn::restored() {
  ++counts_.restores;
  restore_due_ = false;
  edited();
}

void Turn::failed(Time now) { not_before_ = now + limits_.calm; }

void Turn::edited() {
  hup_due_ = true;
  // A sweep that goes on may have read what was there before.
  proves_ = false;
}

void Turn::violated() {
  restore_due_ = true;
  proves_ = false;
  counts_.swept = 0;
}

void Turn::started(Time now) {
  gone();
  ++counts_.starts;
  running_ = fresh_ = true;
  since_ = now;
  hup_due_ = false;
}

void Turn::adopted(const Turn& log, Time now) {
  started(now);
  fresh_ = false;
  state_ = log.state_;
  sweeping_ = log.sweeping_;
  began_ = since_ = now;
  edited();
}

void Turn::gone() {
  running_ = false;
  state_ = State::unknown;
  sweeping_ = proves_ = hup_out_ = fresh_ = stuck_ = false;
}

void Turn::hupped(Time now) {
  ++counts_.hups;
  // A sweep that does not end is given as long again, so as not to be broken off each time.
  stuck_ = late(now);
  hup_due_ = false;
  hup_out_ = !sweeping_;
  fresh_ = false;
  since_ = now;
}

void Turn::lost() {
  if (!sweeps()) return;
  // Whether a sweep goes on is not known. At worst one is broken off, once.
  sweeping_ = hup_out_ = false;
  hup_due_ = true;
}

void Turn::fail_open(Time now) {
  ++counts_.fail_opens;
  counts_.swept = 0;
  open_ = restore_due_ = true;
  proves_ = false;
  not_before_ = now + calm_;
  calm_ = std::clamp(2 * calm_, limits_.calm, limits_.most_calm);
}

void Turn::end_sweep(Time now, bool whole) {
  state_ = State::master;
  if (!sweeping_) return;  // its beginning is lost
  sweeping_ = stuck_ = false;
  ++counts_.sweeps;
  if (!whole) ++counts_.failed_sweeps;
  counts_.last_sweep = std::chrono::duration_cast<Duration>(now - began_);
  if (!proves_) return;
  counts_.swept = counts_.placed;
  open_ = false;
  calm_ = Duration(0);
}

void Turn::hear(LogMark mark, Time now) {
  if (!running_) return;  // it is of one that has ended
  switch (mark) {
    case LogMark::sweep_begins:
      sweeping_ = true;
      proves_ = !restore_due_;
      hup_due_ = hup_due_ && !proves_;
      hup_out_ = fresh_ = false;
      began_ = since_ = now;
      return;
    case LogMark::subnet_up:
      return end_sweep(now, true);
    case LogMark::sweep_failed:
      return end_sweep(now, false);
    case LogMark::default_config:
      return fail_open(now);
    case LogMark::table_full:
      ++counts_.full_tables;
      return;
    case LogMark::enforcement_lost:
      ++counts_.enforcement_lost;
      return;
    case LogMark::master:
    case LogMark::discovering:
      state_ = mark == LogMark::master ? State::master : State::unknown;
      return;
    case LogMark::standby:
    case LogMark::not_active:
    case LogMark::exiting:
    case LogMark::port_down:
      state_ = mark == LogMark::port_down ? State::port_down : State::not_master;
      sweeping_ = hup_out_ = fresh_ = stuck_ = false;
      return;
  }
}

bool Turn::late(Time now) const {
  return (hup_out_ && now >= since_ + limits_.begin) ||
         ((sweeping_ || fresh_) && now >= since_ + limits_.end);
}

Turn::Step Turn::next(Time now) const {
  if (now >= not_before_) {
    if (wanted_ > counts_.placed && may_place()) return Step::place;
    if (restore_due_) return Step::restore;
  }
  // What is in place now nobody should read.
  if (!sweeps() || restore_due_) return Step::nothing;
  if (late(now)) return Step::hup;
  return hup_due_ && !sweeping_ && !hup_out_ ? Step::hup : Step::nothing;
}

std::optional<Turn::Time> Turn::alarm() const {
  std::optional<Time> first;
  const auto at = [&](bool set, Time time) {
    if (set) first = first ? std::min(*first, time) : time;
  };
  at(restore_due_ || (wanted_ > counts_.placed && may_place()), not_before_);
  at(sweeps() && !restore_due_ && hup_out_, since_ + limits_.begin);
  at(sweeps() && !restore_due_ && (sweeping_ || fresh_), since_ + limits_.end);
  return first;
}

Standing Turn::standing() const {
  Standing standing = counts_;
  if (!running_) {
    standing.health = Health::gone;
  } else if (open_) {
    standing.health = Health::failed_open;
  } else if (stuck_) {
    standing.health = Health::stuck;
  } else if (state_ == State::not_master || state_ == State::port_down) {
    standing.health = Health::not_master;
  } else if (state_ == State::master) {
    standing.health = Health::serving;
  }
  return standing;
}

}  // namespace ibpod::sm
