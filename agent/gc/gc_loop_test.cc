#include "agent/gc/gc_loop.h"

#include "agent/gc/test_fake_node.h"

#include <doctest/doctest.h>

namespace ibpod::agent::gc {
namespace {

// Passes of a thread of their own; what changes between two does so at the end of one.
struct Runs {
  test::FakeNode node;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<GcRun> done;
  std::unique_ptr<GcLoop> gc_loop;

  Runs() {
    node.kill(node.start("c1", "0000:3b:00.1", "a", "/run/netns/a"));
    node.failure = "the SM service is away";
    gc_loop = std::make_unique<GcLoop>(
        node.gc_deps(false), Duration(3'600'000), [] {},
        [this](const GcReport& report) {
          const std::scoped_lock lock(mutex);
          node.failure.clear();
          done.push_back(report.gc_run);
          changed.notify_all();
        });
  }
  bool released(size_t gc_run) {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, Duration(20'000), [&] { return done.size() > gc_run; }));
    return !done[gc_run].outcomes.empty() && done[gc_run].outcomes.front().released;
  }
};

TEST_CASE("a paused release waits through request_run, and request_retry tries it at once") {
  Runs passes;
  CHECK_FALSE(passes.released(0));
  passes.gc_loop->request_run();
  CHECK_FALSE(passes.released(1));
  passes.gc_loop->request_retry();
  CHECK(passes.released(2));
}

TEST_CASE("a pass that is asked for at once rests as long as the last one took") {
  constexpr Duration kTook{30};
  test::FakeNode node;
  std::mutex mutex;
  std::condition_variable told;
  std::vector<Deadline::Clock::time_point> judged, done;
  std::unique_ptr<GcLoop> sweeping;
  const auto tell = [&](std::vector<Deadline::Clock::time_point>& moments) {
    const std::scoped_lock lock(mutex);
    moments.push_back(Deadline::Clock::now());
    told.notify_all();
  };
  const auto work = [&](const GcReport&) {
    for (const Deadline end = Deadline::in(kTook); !end.passed();) continue;
    tell(done);
  };
  sweeping = std::make_unique<GcLoop>(
      node.gc_deps(false), Duration(3'600'000), [&] { tell(judged); }, work);
  sweeping->request_run();
  std::unique_lock lock(mutex);
  REQUIRE(told.wait_for(lock, Duration(20'000), [&] { return judged.size() > 1; }));
  CHECK(judged[1] - done[0] >= kTook);
  lock.unlock();
  sweeping.reset();
}

}  // namespace
}  // namespace ibpod::agent::gc
