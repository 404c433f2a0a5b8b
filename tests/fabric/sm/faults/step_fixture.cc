#include "tests/fabric/sm/faults/step_fixture.h"

#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod {

void check_kept(SmFixture& fixture) {
  CHECK_FALSE_MESSAGE(std::filesystem::exists(fixture.partitions_conf().native() + ".refused"),
                      "nobody has edited it");
  CHECK_MESSAGE(ib::find_in(fixture.table(kKept), ib::PKey(0x8001)),
                "the key of a binding that is kept");
}

}  // namespace ibpod
