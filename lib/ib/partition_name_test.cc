#include "lib/ib/partition_name.h"

#include <string>

#include <doctest/doctest.h>

namespace ibpod::ib {
namespace {

TEST_CASE("a partition's name is one that OpenSM keeps whole and no parser reads as syntax") {
  for (const char* const name : {"blue", "Blue", "team_a", "a.b", "7", "-"})
    CHECK(is_partition_name(name));
  for (const char* const name : {"", "b/ue", "b ue", "b=ue", "b:ue", "b,ue", "b;ue", "bl\xfc"})
    CHECK_FALSE(is_partition_name(name));
  CHECK(is_partition_name(std::string(kMostPartitionName, 'a')));
  CHECK_FALSE(is_partition_name(std::string(kMostPartitionName + 1, 'a')));
  CHECK(check_partition_name("blue"));
  CHECK(check_partition_name("bad name").error().text() ==
        "\"bad name\" is not a partition name: expected 1 to 31 letters, digits and \"._-\"");
  CHECK(check_partition_name(std::string(5000, 'a'))
            .error()
            .text()
            .starts_with("a name of 5000 bytes is not a partition name"));
}

}  // namespace
}  // namespace ibpod::ib
