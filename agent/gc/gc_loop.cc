#include "agent/gc/gc_loop.h"

namespace ibpod::agent {
namespace {

// The end of a pod has to be seen soon after a pass that took long.
constexpr Duration kLongestRest{1'000};

}  // namespace

Sweeping::Sweeping(World world, Duration interval, Judged judged, Done done)
    : sweeper_(world, [this](const Pass& pass) { this->judged(pass); }),
      judged_(std::move(judged)),
      done_(std::move(done)),
      interval_(interval),
      thread_([this] { run(); }) {}

Sweeping::~Sweeping() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  told_.notify_all();
  thread_.join();
}

void Sweeping::await_verdicts() {
  std::unique_lock lock(mutex_);
  told_.wait(lock, [this] { return has_judged_; });
}

void Sweeping::has_judged() {
  {
    const std::scoped_lock lock(mutex_);
    has_judged_ = true;
  }
  told_.notify_all();
}

void Sweeping::judged(const Pass& pass) {
  Pass now = pass;
  now.seen = std::chrono::system_clock::now();
  last_.set(std::move(now));
  has_judged();
  judged_();
}

void Sweeping::sweep() {
  {
    const std::scoped_lock lock(mutex_);
    asked_ = true;
  }
  told_.notify_all();
}

void Sweeping::sweep_anew() {
  {
    const std::scoped_lock lock(mutex_);
    anew_ = true;
  }
  sweep();
}

void Sweeping::set_interval(Duration interval) {
  {
    const std::scoped_lock lock(mutex_);
    interval_ = interval;
  }
  told_.notify_all();
}

// Pods can have passes asked for without end: they never take more than half of the time.
void Sweeping::rest(Deadline::Clock::time_point began) {
  const auto now = Deadline::Clock::now();
  const auto end = now + std::min<Deadline::Clock::duration>(now - began, kLongestRest);
  std::unique_lock lock(mutex_);
  told_.wait_until(lock, end, [this] { return stopping_; });
}

Duration Sweeping::interval() {
  const std::scoped_lock lock(mutex_);
  return interval_;
}

void Sweeping::wait(std::optional<Duration> again) {
  const auto begin = Deadline::Clock::now();
  std::unique_lock lock(mutex_);
  const auto due = [&] { return begin + std::min(interval_, again.value_or(interval_)); };
  while (!asked_ && !stopping_ && Deadline::Clock::now() < due()) told_.wait_until(lock, due());
}

// False: there is none.
bool Sweeping::begin_next() {
  const std::scoped_lock lock(mutex_);
  asked_ = false;
  if (std::exchange(anew_, false)) sweeper_.end_pauses();
  return !stopping_;
}

void Sweeping::run() {
  do {
    const auto began = Deadline::Clock::now();
    Result<Pass> pass = sweeper_.sweep(Deadline::Clock::now(), interval());
    SweepReport report;
    if (pass)
      report.pass = *pass;
    else
      report.error = pass.error();
    if (pass) pass->seen = std::chrono::system_clock::now();
    if (pass) last_.set(*pass);
    has_judged();
    done_(report);
    rest(began);
    wait(report.pass.again);
  } while (begin_next());
}

}  // namespace ibpod::agent
