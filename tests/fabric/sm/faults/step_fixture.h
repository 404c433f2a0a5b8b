// ibpod-sm that ends at one of its steps.
#pragma once

#include "tests/fabric/sm/faults/console.h"
#include "tests/fabric/sm/faults/stepper.h"
#include "tests/fabric/sm/table_checks.h"

#include <utility>

namespace ibpod {

inline constexpr unsigned kKept = 1;  // the host whose binding nobody touches

class StepFixture : public SmFixture {
 public:
  explicit StepFixture(Setup setup = {.hosts = kHosts - 1})
      : SmFixture(Unstarted{}, std::move(setup)), stepper(folder() / "steps", state_folder()) {
    use(stepper.environment());
  }
  // Behind its end.
  void restart() {
    reap();
    console.forget_dead();
    start();
  }
  Console console;
  Stepper stepper;
};

// Its binding is in force, and nobody is said to have edited anything.
void check_kept(SmFixture& fixture);

}  // namespace ibpod
