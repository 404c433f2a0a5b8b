#include "lib/base/jitter.h"

#include <random>

namespace ibpod {

std::function<double()> random_number() {
  return [generator = std::minstd_rand(std::random_device()())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(generator);
  };
}

Duration jittered(Duration pause, double random) {
  const double factor = 0.75 + random / 2;
  return Duration(static_cast<Duration::rep>(static_cast<double>(pause.count()) * factor));
}

}  // namespace ibpod
