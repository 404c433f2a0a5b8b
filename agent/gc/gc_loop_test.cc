#include "agent/gc/gc_loop.h"

#include "agent/gc/test_fake_node.h"

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

// Passes of a thread of their own; what changes between two does so at the end of one.
struct Passes {
  test::Node node;
  std::mutex mutex;
  std::condition_variable told;
  std::vector<Pass> done;
  std::unique_ptr<Sweeping> sweeping;

  Passes() {
    node.kill(node.start("c1", "0000:3b:00.1", "a", "/run/netns/a"));
    node.failure = "the SM service is away";
    sweeping = std::make_unique<Sweeping>(
        node.world(false), Duration(3'600'000), [] {},
        [this](const SweepReport& report) {
          const std::scoped_lock lock(mutex);
          node.failure.clear();
          done.push_back(report.pass);
          told.notify_all();
        });
  }
  bool released(size_t pass) {
    std::unique_lock lock(mutex);
    REQUIRE(told.wait_for(lock, Duration(20'000), [&] { return done.size() > pass; }));
    return !done[pass].outcomes.empty() && done[pass].outcomes.front().released;
  }
};

TEST_CASE("what waits for its next try waits through a sweep, and not through one anew") {
  Passes passes;
  CHECK_FALSE(passes.released(0));
  passes.sweeping->sweep();
  CHECK_FALSE(passes.released(1));
  passes.sweeping->sweep_anew();
  CHECK(passes.released(2));
}

TEST_CASE("a pass that is asked for at once rests as long as the last one took") {
  constexpr Duration kTook{30};
  test::Node node;
  std::mutex mutex;
  std::condition_variable told;
  std::vector<Deadline::Clock::time_point> judged, done;
  std::unique_ptr<Sweeping> sweeping;
  const auto tell = [&](std::vector<Deadline::Clock::time_point>& moments) {
    const std::scoped_lock lock(mutex);
    moments.push_back(Deadline::Clock::now());
    told.notify_all();
  };
  const auto work = [&](const SweepReport&) {
    for (const Deadline end = Deadline::in(kTook); !end.passed();) continue;
    tell(done);
  };
  sweeping = std::make_unique<Sweeping>(
      node.world(false), Duration(3'600'000), [&] { tell(judged); }, work);
  sweeping->sweep();
  std::unique_lock lock(mutex);
  REQUIRE(told.wait_for(lock, Duration(20'000), [&] { return judged.size() > 1; }));
  CHECK(judged[1] - done[0] >= kTook);
  lock.unlock();
  sweeping.reset();
}

}  // namespace
}  // namespace ibpod::agent
