#include "agent/gc/gc_loop.h"

namespace ibpod::agent::gc {
namespace {

// The end of a pod has to be seen soon after a pass that took long.
constexpr Duration kMaxPause{1'000};

}  // namespace

GcLoop::GcLoop(GcDeps deps, Duration interval, OnVerdicts judged, OnDone done)
    : collector_(deps, [this](const GcRun& gc_run) { this->publish_verdicts(gc_run); }),
      on_verdicts_(std::move(judged)),
      on_done_(std::move(done)),
      interval_(interval),
      thread_([this] { run(); }) {}

GcLoop::~GcLoop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GcLoop::await_verdicts() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return verdicts_known_; });
}

void GcLoop::set_verdicts_known() {
  {
    const std::scoped_lock lock(mutex_);
    verdicts_known_ = true;
  }
  changed_.notify_all();
}

void GcLoop::publish_verdicts(const GcRun& gc_run) {
  GcRun now = gc_run;
  now.evaluated_at = std::chrono::system_clock::now();
  last_.set(std::move(now));
  set_verdicts_known();
  on_verdicts_();
}

void GcLoop::request_run() {
  {
    const std::scoped_lock lock(mutex_);
    run_requested_ = true;
  }
  changed_.notify_all();
}

void GcLoop::request_retry() {
  {
    const std::scoped_lock lock(mutex_);
    retry_requested_ = true;
  }
  request_run();
}

void GcLoop::set_interval(Duration interval) {
  {
    const std::scoped_lock lock(mutex_);
    interval_ = interval;
  }
  changed_.notify_all();
}

// Pods can have passes asked for without end: they never take more than half of the time.
void GcLoop::pause_after(Deadline::Clock::time_point began) {
  const auto now = Deadline::Clock::now();
  const auto end = now + std::min<Deadline::Clock::duration>(now - began, kMaxPause);
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, end, [this] { return stopping_; });
}

Duration GcLoop::interval() {
  const std::scoped_lock lock(mutex_);
  return interval_;
}

void GcLoop::wait(std::optional<Duration> again) {
  const auto begin = Deadline::Clock::now();
  std::unique_lock lock(mutex_);
  const auto due = [&] { return begin + std::min(interval_, again.value_or(interval_)); };
  while (!run_requested_ && !stopping_ && Deadline::Clock::now() < due())
    changed_.wait_until(lock, due());
}

// False: there is none.
bool GcLoop::begin_next_run() {
  const std::scoped_lock lock(mutex_);
  run_requested_ = false;
  if (std::exchange(retry_requested_, false)) collector_.reset_pauses();
  return !stopping_;
}

void GcLoop::run() {
  do {
    const auto began = Deadline::Clock::now();
    Result<GcRun> gc_run = collector_.run(Deadline::Clock::now(), interval());
    GcReport report;
    if (gc_run)
      report.gc_run = *gc_run;
    else
      report.error = gc_run.error();
    if (gc_run) gc_run->evaluated_at = std::chrono::system_clock::now();
    if (gc_run) last_.set(*gc_run);
    set_verdicts_known();
    on_done_(report);
    pause_after(began);
    wait(report.gc_run.rerun_after);
  } while (begin_next_run());
}

}  // namespace ibpod::agent::gc
