#include "sm/opensm/opensm_sweeps.h"

#include <utility>

namespace ibpod::sm::opensm {

void OpensmSweeps::start(Time now) {
  end_process();
  expected_ = Expected::first_sweep;
  since_ = now;
  due_ = false;
}

void OpensmSweeps::adopt(const OpensmSweeps& log, Time now) {
  start(now);
  expected_ = Expected::nothing;
  heard_ = log.heard_;
  sweep_ = log.running() ? Sweep::running : heard_ ? Sweep::none : Sweep::unsure;
  began_ = now;
  due_ = true;
}

void OpensmSweeps::stop() {
  sweep_ = Sweep::none;
  expected_ = Expected::nothing;
  stuck_ = false;
}

void OpensmSweeps::end_process() {
  stop();
  heard_ = false;
}

void OpensmSweeps::begin(Time now, bool ours) {
  sweep_ = ours ? Sweep::proving : Sweep::running;
  heard_ = true;
  due_ = due_ && !ours;
  expected_ = Expected::nothing;
  unheard_ = 0;
  began_ = since_ = now;
}

std::optional<OpensmSweeps::Ended> OpensmSweeps::end() {
  const Sweep ended = std::exchange(sweep_, Sweep::none);
  if (ended == Sweep::none || ended == Sweep::unsure) return std::nullopt;
  stuck_ = false;
  return Ended{began_, ended == Sweep::proving};
}

void OpensmSweeps::lose_log() {
  // A sweep may be running. At worst, one is interrupted once.
  sweep_ = Sweep::unsure;
  if (expected_ == Expected::sweep_of_hup) expected_ = Expected::nothing;
  due_ = true;
}

void OpensmSweeps::file_written() {
  request();
  // If the log never showed a sweep, no version waits for one.
  if (!heard_ && expected_ == Expected::sweep_of_hup) expected_ = Expected::nothing;
  unheard_ = 0;
}

void OpensmSweeps::request() {
  due_ = true;
  doubt();
}

void OpensmSweeps::doubt() {
  if (sweep_ == Sweep::proving) sweep_ = Sweep::running;
}

void OpensmSweeps::hupped(Time now) {
  ++unheard_;
  // A sweep that does not end gets the same time again, so that not every SIGHUP interrupts it.
  const auto late = late_from();
  stuck_ = late && now >= *late;
  due_ = false;
  expected_ = running() ? Expected::nothing : Expected::sweep_of_hup;
  since_ = now;
}

// When the sweep that is expected or running has had its time.
std::optional<OpensmSweeps::Time> OpensmSweeps::late_from() const {
  if (expected_ == Expected::sweep_of_hup) return since_ + limits_.begin;
  if (running() || expected_ == Expected::first_sweep) return since_ + limits_.end;
  return std::nullopt;
}

std::optional<OpensmSweeps::Time> OpensmSweeps::gap() const {
  const bool hup_out = expected_ == Expected::sweep_of_hup;
  if (!running() && !hup_out) return Time::min();
  if (hup_out && !heard_) return since_ + limits_.begin;
  return std::nullopt;
}

bool OpensmSweeps::hup_due(Time now) const {
  const auto late = alarm();
  if (late && now >= *late) return true;
  // An OpenSM that has just been started sweeps by itself; a signal before it is set up would end
  // it.
  return due_ && !running() && expected_ == Expected::nothing;
}

std::optional<OpensmSweeps::Time> OpensmSweeps::alarm() const {
  return may_ask_again() ? late_from() : std::nullopt;
}

}  // namespace ibpod::sm::opensm
