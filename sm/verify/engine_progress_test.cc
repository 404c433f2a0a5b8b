#include "sm/verify/engine_progress.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using engine::Health;

EngineProgress::Time at(int seconds) { return EngineProgress::Time(std::chrono::seconds(seconds)); }

struct Engine {
  EngineProgress::Change reports(uint64_t placed, uint64_t swept, int seconds) {
    status.placed = placed;
    status.swept = swept;
    return progress.update(status, capabilities, at(seconds));
  }

  EngineProgress progress{"e"};
  engine::EngineStatus status;
  engine::Capabilities capabilities{.writes = true, .repairs_tables = true};
};

TEST_CASE_FIXTURE(Engine, "a reading is of the versions that were in force when it began") {
  CHECK(progress.at(at(100)) == ForcedVersions{});
  reports(1, 0, 10);
  reports(2, 1, 20);
  CHECK(progress.applied() == 2);
  CHECK(progress.swept() == 1);
  CHECK(progress.at(at(9)) == ForcedVersions{0, 0});
  CHECK(progress.at(at(10)) == ForcedVersions{1, 0});
  CHECK(progress.at(at(19)) == ForcedVersions{1, 0});
  CHECK(progress.at(at(20)) == ForcedVersions{2, 1});
}

TEST_CASE_FIXTURE(Engine, "a stamp names the versions at the time when it was made") {
  reports(2, 1, 10);
  const std::string stamp = progress.stamp();
  reports(3, 3, 20);
  CHECK(progress.at(stamp) == ForcedVersions{2, 1});
  CHECK(progress.at(progress.stamp()) == ForcedVersions{3, 3});
  SUBCASE("half of a stamp says nothing of the sweep") {
    const std::string half = stamp.substr(0, stamp.find('/'));
    CHECK(progress.at(half) == ForcedVersions{2, 0});
    CHECK(progress.at(half + "/") == ForcedVersions{2, 0});
  }
  SUBCASE("a stamp that is not from here") {
    for (const std::string_view wrong : {"", "/", "e", "e-0-2", "x-0-2/x-0-1"}) {
      CAPTURE(wrong);
      CHECK(progress.at(wrong).swept == 0);
    }
    CHECK(progress.at("x-0-2/x-0-1") == ForcedVersions{});
    CHECK(progress.at("") == ForcedVersions{});
  }
}

TEST_CASE_FIXTURE(Engine, "events after which tables may hold other partitions") {
  reports(2, 2, 10);
  const std::string stamp = progress.stamp();
  SUBCASE("other partitions were in force") {
    SUBCASE("a file that is not ours") { ++status.violations; }
    SUBCASE("OpenSM has thrown the file away") { ++status.fail_opens; }
    SUBCASE("another subnet manager was master") { ++status.losses; }
    const EngineProgress::Change change = reports(2, 2, 20);
    CHECK(change.tables_lost);
    CHECK_MESSAGE(change.has_swept, "earlier sweeps count for nothing");
    CHECK(change.first_sweep);
    CHECK_FALSE(reports(2, 2, 21).tables_lost);
  }
  SUBCASE("an edit by hand loses no table") {
    ++status.edits;
    CHECK_FALSE(reports(2, 2, 20).tables_lost);
  }
  SUBCASE("an older version is in place") {
    CHECK_FALSE(reports(1, 1, 20).tables_lost);
    CHECK(progress.applied() == 1);
  }
  SUBCASE("an older version was swept") {
    CHECK_FALSE(reports(2, 1, 20).tables_lost);
    CHECK(progress.swept() == 1);
  }
  CHECK(progress.at(at(15)) == ForcedVersions{});
  CHECK(progress.at(stamp) == ForcedVersions{});
}

TEST_CASE_FIXTURE(Engine, "the same status again changes nothing") {
  reports(2, 2, 10);
  const std::string stamp = progress.stamp();
  const EngineProgress::Change again = reports(2, 2, 20);
  CHECK_FALSE(again.has_swept);
  CHECK_FALSE(again.first_sweep);
  CHECK_FALSE(again.tables_lost);
  CHECK(progress.stamp() == stamp);
  CHECK(progress.at(at(10)) == ForcedVersions{2, 2});
}

TEST_CASE_FIXTURE(Engine, "tables prove something after a sweep, or if none is seen, when placed") {
  CHECK_FALSE(progress.tables_prove_something());
  reports(1, 0, 10);
  CHECK_FALSE(progress.tables_prove_something());
  capabilities.follows_sweeps = false;
  reports(1, 0, 11);
  CHECK(progress.tables_prove_something());
  capabilities.follows_sweeps = true;
  reports(1, 1, 12);
  CHECK(progress.tables_prove_something());
}

TEST_CASE_FIXTURE(Engine, "tables may be repaired if ibpod-sm may, and no other program writes") {
  CHECK_FALSE(progress.may_repair());
  for (const Health health :
       {Health::starting, Health::serving, Health::gone, Health::not_master, Health::other_file,
        Health::failed_open, Health::refused, Health::stuck}) {
    CAPTURE(engine::name(health));
    status.health = health;
    capabilities.repairs_tables = true;
    reports(1, 1, 10);
    CHECK(progress.may_repair() == (health == Health::serving || health == Health::gone));
    capabilities.repairs_tables = false;
    reports(1, 1, 10);
    CHECK_FALSE(progress.may_repair());
  }
  capabilities.repairs_tables = true;
  status.health = Health::serving;
  reports(1, 1, 10);
  progress.set_health(Health::not_master);
  CHECK_FALSE(progress.may_repair());
}

}  // namespace
}  // namespace ibpod::sm::verify
