#include "tests/fabric/watching.h"

#include "lib/mad/umad_channel.h"

#include <doctest/doctest.h>

namespace ibpod {

using namespace std::chrono_literals;

std::unique_ptr<mad::Scheduler> new_scheduler() {
  auto channel = mad::UmadChannel::open(mad::local_port("", 0).value());
  REQUIRE(channel);
  return std::make_unique<mad::Scheduler>(std::move(channel).value());
}

Watching::Watching() : scheduler_(new_scheduler()) {
  sm::probe::ProberSettings settings;
  settings.timeout = 10s;  // nothing gets lost here; a slow machine is not a silent port
  settings.limit = 60s;
  watch_ = std::make_unique<sm::probe::SmpPortProber>(*scheduler_, settings,
                                                      [this](sm::probe::ProbeBatch readings) {
                                                        const std::lock_guard lock(mutex_);
                                                        seen_.push_back(std::move(readings));
                                                        changed_.notify_one();
                                                      });
}

sm::probe::ProbeBatch Watching::wait(
    const std::function<bool(const sm::probe::ProbeBatch&)>& fits) {
  std::unique_lock lock(mutex_);
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (changed_.wait_until(lock, limit, [this] { return !seen_.empty(); })) {
    sm::probe::ProbeBatch readings = std::move(seen_.front());
    seen_.pop_front();
    if (fits(readings)) return readings;
  }
  FAIL("it was not seen");
  return {};
}

sm::probe::ProbeBatch Watching::wait_for_all() {
  return wait([](const sm::probe::ProbeBatch& readings) { return readings.complete; });
}

const ib::PKeyTable* table_of(const sm::probe::ProbeBatch& readings, ib::Guid port) {
  for (const sm::probe::ProbeResult& reading : readings.ports) {
    if (reading.port == port) return std::get_if<ib::PKeyTable>(&reading.table);
  }
  return nullptr;
}

}  // namespace ibpod
