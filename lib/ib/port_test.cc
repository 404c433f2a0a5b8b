#include "lib/ib/port.h"

#include <doctest/doctest.h>

namespace ibpod::ib {
namespace {

TEST_CASE("states are named as ibstat does, and a number of the future as unknown") {
  CHECK(name(PortState::down) == "DOWN");
  CHECK(name(PortState::active) == "ACTIVE");
  CHECK(name(static_cast<PortState>(9)) == "unknown");
}

}  // namespace
}  // namespace ibpod::ib
