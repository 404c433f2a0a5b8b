// ibpod-sm is killed before each step of its start.
//   STEPS=all  every step
#include "tests/fabric/sm/faults/faults.h"
#include "tests/fabric/sm/faults/step_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// Nothing was acknowledged, or one binding, and its OpenSM is gone.
int64_t kill_in_start(StepFixture& fixture, int64_t step, bool torn) {
  fixture.stepper.arm(step, torn);
  fixture.launch();
  if (fixture.serves())
    fixture.until([&] { return fixture.stepper.ended() || fixture.is_healthy(); });
  const bool ended = fixture.stepper.ended();
  const int64_t taken = fixture.stepper.disarm();
  if (!ended) return taken;
  INFO("killed at step " << step << " of its start: " << fixture.stepper.last());
  fixture.restart();
  return taken;
}

TEST_CASE("killed at any step of its first start, it starts") {
  int64_t steps = 0;
  {
    StepFixture fixture;
    steps = kill_in_start(fixture, int64_t{1} << 40, false);
    CHECK(steps > 10);
    fixture.kill();
    fixture.console.forget_dead();
  }
  std::mt19937 random = random_of("first start");
  for (const int64_t step : some_of(steps, 1, random)) {
    CAPTURE(step);
    StepFixture fixture;
    (void)kill_in_start(fixture, step, step % 2 == 0);
    fixture.create_partition("blue");
    CHECK(fixture.bind(1, "blue") == "verified");
    check_tables(fixture);
    fixture.kill();
    fixture.kill_opensm();
    fixture.until([&] { return !fixture.opensm(); });
    fixture.console.forget_dead();
  }
}

TEST_CASE(
    "killed at any step of a start, also where OpenSM is gone, it starts, and keeps its word") {
  StepFixture fixture;
  fixture.start();
  fixture.create_partition("blue");
  REQUIRE(fixture.bind(kKept, "blue") == "verified");
  std::mt19937 random = random_of("start");
  for (const bool gone : {false, true}) {
    CAPTURE(gone);
    const auto stop = [&] {
      fixture.kill();
      if (gone) {
        fixture.kill_opensm();
        fixture.until([&] { return !fixture.opensm(); });
      }
      fixture.console.forget_dead();
    };
    stop();
    const int64_t steps = kill_in_start(fixture, int64_t{1} << 40, false);
    for (const int64_t step : some_of(steps, 1, random)) {
      CAPTURE(step);
      stop();
      (void)kill_in_start(fixture, step, step % 2 == 0);
      check_kept(fixture);
      fixture.until([&] { return fixture.all_verified(); });
      check_tables(fixture);
    }
  }
}

}  // namespace
}  // namespace ibpod
