// ibpod-sm is killed before each step of its start.
//   STEPS=all  every step
#include "tests/fabric/sm/faults/faults.h"
#include "tests/fabric/sm/faults/step_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// Nothing was acknowledged, or one binding, and its OpenSM is gone.
int64_t kill_in_start(StepBed& bed, int64_t step, bool torn) {
  bed.stepper.arm(step, torn);
  bed.launch();
  if (bed.serves()) bed.until([&] { return bed.stepper.ended() || bed.well(); });
  const bool ended = bed.stepper.ended();
  const int64_t taken = bed.stepper.disarm();
  if (!ended) return taken;
  INFO("killed at step " << step << " of its start: " << bed.stepper.last());
  bed.restart();
  return taken;
}

TEST_CASE("killed at any step of its first start, it starts") {
  int64_t steps = 0;
  {
    StepBed bed;
    steps = kill_in_start(bed, int64_t{1} << 40, false);
    CHECK(steps > 10);
    bed.kill();
    bed.console.forget_dead();
  }
  std::mt19937 random = random_of("first start");
  for (const int64_t step : some_of(steps, 1, random)) {
    CAPTURE(step);
    StepBed bed;
    (void)kill_in_start(bed, step, step % 2 == 0);
    bed.partition("blue");
    CHECK(bed.bind(1, "blue") == "verified");
    check_truth(bed);
    bed.kill();
    bed.kill_opensm();
    bed.until([&] { return !bed.opensm(); });
    bed.console.forget_dead();
  }
}

TEST_CASE(
    "killed at any step of a start, also where OpenSM is gone, it starts, and keeps its word") {
  StepBed bed;
  bed.start();
  bed.partition("blue");
  REQUIRE(bed.bind(kKept, "blue") == "verified");
  std::mt19937 random = random_of("start");
  for (const bool gone : {false, true}) {
    CAPTURE(gone);
    const auto stop = [&] {
      bed.kill();
      if (gone) {
        bed.kill_opensm();
        bed.until([&] { return !bed.opensm(); });
      }
      bed.console.forget_dead();
    };
    stop();
    const int64_t steps = kill_in_start(bed, int64_t{1} << 40, false);
    for (const int64_t step : some_of(steps, 1, random)) {
      CAPTURE(step);
      stop();
      (void)kill_in_start(bed, step, step % 2 == 0);
      check_kept(bed);
      bed.until([&] { return bed.all_verified(); });
      check_truth(bed);
    }
  }
}

}  // namespace
}  // namespace ibpod
