// Those who attack ibpod-sm, by name: a row of the table is an attack.
#pragma once

#include "lib/base/clock.h"
#include "tests/fabric/sm/secure_fixture.h"

#include <functional>
#include <string>
#include <vector>

namespace ibpod {

struct Attack {
  struct Done {
    size_t connected = 0;
    size_t cut = 0;  // of those connections
  };
  std::string name;
  // Goes on until the time is over, also where it is cut off; by a thread of its own.
  std::function<Done(const SecureFixture& fixture, Deadline end)> run;
  unsigned threads = 1;   // that do so at once
  bool ends_cut = false;  // it has to be cut off, within some seconds
};

// Further attacks are added here.
std::vector<Attack> attacks();

}  // namespace ibpod
