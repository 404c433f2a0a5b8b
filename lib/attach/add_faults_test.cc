// ADD and DEL of a VF fail, or die, at each of their steps.
#include "lib/attach/test_loop.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

using fake::FakeKernel;

int loop(fake::IpoibReappears reappears, bool isolation, bool ipam) {
  return loop_over(FakeKernel::Count::orders, ipam,
                   [&](Fixture& fixture) { prepare_vf(fixture, reappears, isolation); });
}

TEST_CASE(
    "wherever ADD or DEL fails or dies, DEL or GC leaves node, records and leases as before") {
  using fake::IpoibReappears;
  int points = 0;
  for (const auto reappears : {IpoibReappears::in_host, IpoibReappears::in_target}) {
    for (const bool isolation : {true, false}) {
      points += loop(reappears, isolation, false);
    }
  }
  points += loop(IpoibReappears::in_host, true, true);
  CHECK(points > 950);
}

}  // namespace
}  // namespace ibpod::attach
