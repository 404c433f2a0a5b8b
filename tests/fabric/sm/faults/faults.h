// How much of the faults is run: a sample by SEED, or, where STEPS=all is set, all of them.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace ibpod {

bool all_steps();
// STEPS=N: of each change; 1 if it is not set.
size_t steps_each();
// A generator seeded by SEED and `place`: the same for one place in the tests.
std::mt19937 random_of(const char* place);
// `count` of the numbers below `end`, in order; or all of them.
std::vector<int64_t> some_of(int64_t end, size_t count, std::mt19937& random);

}  // namespace ibpod
