#include "agent/sweeping.h"

#include "agent/sweep/test_world.h"

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

}  // namespace
}  // namespace ibpod::agent
