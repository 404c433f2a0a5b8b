#include "tests/fabric/sm/faults/faults.h"

#include "tests/fabric/setting.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>

namespace ibpod {

bool all_steps() {
  const char* const given = std::getenv("STEPS");
  return given != nullptr && std::string(given) == "all";
}

size_t steps_each() { return all_steps() ? 0 : setting<size_t>("STEPS", 1); }

std::mt19937 random_of(const char* place) {
  const std::string seed = std::to_string(setting("SEED", 1U)) + place;
  std::seed_seq sequence(seed.begin(), seed.end());
  return std::mt19937(sequence);
}

std::vector<int64_t> some_of(int64_t end, size_t count, std::mt19937& random) {
  std::vector<int64_t> all(static_cast<size_t>(std::max<int64_t>(end, 0)));
  std::iota(all.begin(), all.end(), 0);
  if (all_steps()) return all;
  std::vector<int64_t> some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), count, random);
  return some;
}

}  // namespace ibpod
