// Those who attack ibpod-sm, by name: a row of the table is an attack.
#pragma once

#include "lib/base/clock.h"
#include "tests/fabric/sm/secure_bed.h"

#include <functional>
#include <string>
#include <vector>

namespace ibpod {

struct Attack {
  std::string name;
  // Goes on until the time is over, also where it is cut off; by a thread of its own. How often it
  // was cut off, or refused.
  std::function<size_t(const SecureBed& bed, Deadline end)> run;
  unsigned threads = 1;  // that do so at once
};

// Whoever knows one more adds it here.
std::vector<Attack> attacks();

}  // namespace ibpod
