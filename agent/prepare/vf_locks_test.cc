#include "agent/prepare/vf_locks.h"

#include "agent/prepare/test_prepare_fixture.h"

#include <filesystem>
#include <fstream>

namespace ibpod::agent::prepare {
namespace {

struct LocksFixture : PrepareFixture {
  PrepareDeps deps{k, records, folder.path(), "boot-1", {}};

  Result<bool> acquire() { return VfLocks(deps, Deadline::in(Duration(0))).acquire(vf(0)); }
  // Each file of a record becomes one that cannot be read.
  void damage_records() const {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path()))
      if (file.path().extension() == ".json") std::ofstream(file.path()) << "{";
  }
};

TEST_CASE("a VF is free if no record of this boot names it") {
  LocksFixture fixture;
  CHECK(fixture.acquire().value());
  fixture.write_record(vf(1));
  CHECK(fixture.acquire().value());
  fixture.write_record(vf(0), "boot-0");
  CHECK(fixture.acquire().value());
  fixture.write_record(vf(0));
  CHECK_FALSE(fixture.acquire().value());
}

TEST_CASE("a record that cannot be read may be of this boot") {
  LocksFixture fixture;
  fixture.write_record(vf(0), "boot-0");
  REQUIRE(fixture.acquire().value());
  fixture.damage_records();
  CHECK_FALSE(fixture.acquire().value());
}

TEST_CASE("a VF stays locked as long as the object lives") {
  LocksFixture fixture;
  {
    VfLocks locks(fixture.deps, Deadline::in(Duration(0)));
    REQUIRE(locks.acquire(vf(0)).value());
    CHECK(locks.acquire(vf(0)).value());
    CHECK_FALSE(fixture.acquire());
    CHECK(fixture.records.lock(vf(1).text(), Deadline::in(Duration(0))));
  }
  CHECK(fixture.acquire().value());
}

}  // namespace
}  // namespace ibpod::agent::prepare
