// ADD and DEL of a VF in a partition fail, or die, at each of their steps.
#include "lib/attach/test_loop.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

using fake::FakeKernel;

TEST_CASE("a failure in a partition by name leaves nothing, with its own GUID and a granted one") {
  int points = 0;
  for (const bool chosen : {false, true})
    points += loop_over(FakeKernel::Count::orders, false, [&](Fixture& fixture) {
      prepare_vf(fixture, fake::IpoibReappears::in_host, true);
      fixture.vf_config.spec.pkey.reset();
      fixture.vf_config.spec.partitions = {{"blue"}};
      if (!chosen) fixture.vf_config.spec.guids.reset();
    });
  CHECK(points > 300);
}

TEST_CASE("a failure while the interface comes up again for a full key leaves nothing") {
  const int points = loop_over(FakeKernel::Count::orders, true, [](Fixture& fixture) {
    prepare_vf(fixture, fake::IpoibReappears::in_host, true);
    fixture.k.fabric.pkeys[kSpecGuids.port] = {ib::PKey(0x0001), ib::PKey(0x8001)};
  });
  CHECK(points > 240);
}

}  // namespace
}  // namespace ibpod::attach
