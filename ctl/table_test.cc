#include "ctl/table.h"

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

TEST_CASE("table: columns are as wide as their widest cell, empty cells show a dash") {
  CHECK(table({"DEVICE", "POOL"}, {{"0000:3b:00.1", "openib/vfs"}, {"0000:3b:00.2", ""}, {"x"}}) ==
        "DEVICE        POOL\n"
        "0000:3b:00.1  openib/vfs\n"
        "0000:3b:00.2  -\n"
        "x             -\n");
}

TEST_CASE("table: what a terminal would act on is not printed") {
  CHECK(table({"POD"}, {{"a\x1b[2Jb\n"}}) == "POD\na?[2Jb?\n");
  CHECK(table({"POD"}, {{"\xc3\xa4"}}) == "POD\n??\n");
}

TEST_CASE("table: no rows, a head alone") { CHECK(table({"A", "B"}, {}) == "A  B\n"); }

}  // namespace
}  // namespace ibpod::ctl
