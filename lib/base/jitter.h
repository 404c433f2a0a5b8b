// Jitter: pauses of different lengths, so that several clients of a server do not call together.
#pragma once

#include "lib/base/clock.h"

#include <functional>

namespace ibpod {

// Numbers from 0 to 1, others in each process. For one thread at a time.
std::function<double()> random_number();

// From three quarters to five quarters of the pause, by a number from 0 to 1.
Duration jittered(Duration pause, double random);

}  // namespace ibpod
