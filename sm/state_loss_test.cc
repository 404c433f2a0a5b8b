#include "sm/state_loss.h"

#include "sm/opensm/partitions_file.h"
#include "sm/ufm/written_members.h"
#include "tests/support/fake_store.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

TEST_CASE("an empty database beside a partitions.conf with partitions is refused") {
  const TempFolder folder;
  opensm::OpenSmEngineSettings settings;
  settings.folder = folder.path();
  const opensm::OpenSmPaths paths(settings.folder);
  FakeStore store;
  const Path database = folder.path() / "promises.db";
  CHECK(check_state_lost(store, database, settings));

  opensm::Disk disk;
  opensm::PartitionsFile file(disk, paths.partitions, opensm::options_of(settings.launcher.opensm));
  REQUIRE(file.open());
  REQUIRE(file.place({fabric::default_definition()}));
  CHECK(check_state_lost(store, database, settings));
  fabric::PartitionDefinition blue;
  blue.name = "blue";
  blue.pkey = ib::PKey(1);
  REQUIRE(file.place({fabric::default_definition(), blue}));
  const Status lost = check_state_lost(store, database, settings);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().text().find(database.native()) != std::string::npos);
  CHECK(lost.error().text().find("restore the database from a backup") != std::string::npos);

  // A database with records, or a foreign file.
  REQUIRE(store.commit({{state::RecordKind::range, "pkeys", "1"}}));
  CHECK(check_state_lost(store, database, settings));
  FakeStore empty;
  std::filesystem::remove(paths.partitions.native() + ".good");
  CHECK_FALSE(check_state_lost(empty, database, settings));
  folder.write(paths.partitions.filename(), "theirs=0x10 : ALL;\n");
  CHECK(check_state_lost(empty, database, settings));
}

TEST_CASE("an empty database beside a record of members in UFM is refused") {
  const TempFolder folder;
  const ufm::EngineSettings settings{.pkeys = pool::PKeyPool::make({}).value(),
                                     .folder = folder.path() / "ufm"};
  FakeStore store;
  const Path database = folder.path() / "promises.db";
  CHECK(check_state_lost(store, database, settings));

  auto written = ufm::WrittenMembers::open(settings.folder);
  REQUIRE(written);
  ufm::WrittenPartition partition;
  partition[ib::Guid(1)] = {.values = {}, .leaving = true};
  REQUIRE(written->write(ib::PKey(0x100), partition));
  CHECK(check_state_lost(store, database, settings));
  partition[ib::Guid(2)] = {.values = {}, .leaving = false};
  REQUIRE(written->write(ib::PKey(0x100), partition));
  const Status lost = check_state_lost(store, database, settings);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code() == Code::invalid);
  CHECK(lost.error().text().find(database.native() + " is empty") != std::string::npos);
  CHECK(lost.error().text().find("members (1)") != std::string::npos);
  CHECK(lost.error().text().find("restore the database from a backup") != std::string::npos);

  REQUIRE(store.commit({{state::RecordKind::range, "pkeys", "1"}}));
  CHECK(check_state_lost(store, database, settings));
}

}  // namespace
}  // namespace ibpod::sm
