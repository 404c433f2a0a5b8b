// Changes of partitions and bindings, in which ibpod-sm is killed before each of its steps.
#pragma once

#include "tests/fabric/sm/faults/step_fixture.h"

#include <functional>

namespace ibpod {

// Makes each change once for each step, or for some (faults.h), and kills it there. After its
// restart all that it had acknowledged is there, no binding is shown as verified without its keys,
// and the change is made again. Then `check` is called, when all is in force.
// The test fails if no step was reached at all.
void kill_in_changes(StepFixture& fixture, const std::function<void()>& check);

}  // namespace ibpod
