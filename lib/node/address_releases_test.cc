#include "lib/node/address_releases.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

Record record(const std::string& attempt, const std::string& container = "c.1") {
  Record record;
  record.plugin = "ib-sriov";
  record.attempt = attempt;
  record.container_id = container;
  record.ifname = "net1";
  record.device = ib::PciAddress::parse("0000:3b:00.1").value();
  record.configuration = R"({"name":"blue"})";
  return record;
}

struct Fixture {
  TempFolder state;
  AddressReleases releases{state.path()};
  Path folder = state.path() / "addresses" / "c.1:net1";
};

TEST_CASE("what is owed is a file for each attempt, and its folder goes with the last one") {
  Fixture fixture;
  CHECK(fixture.releases.all()->empty());
  REQUIRE(fixture.releases.write(record("b")));
  REQUIRE(fixture.releases.write(record("a")));
  REQUIRE(fixture.releases.write(record("a", "c2")));
  CHECK(fixture.releases.all().value() == std::vector<AddressReleaseName>{{"c.1", "net1", "a"},
                                                                          {"c.1", "net1", "b"},
                                                                          {"c2", "net1", "a"}});
  CHECK(fixture.releases.of_attachment("c.1", "net1")->size() == 2);
  CHECK(fixture.releases.read({"c.1", "net1", "a"}).value() == record("a"));
  CHECK(fixture.releases.read({"c.1", "net1", "c"}).error().code() == Code::not_found);
  {
    const auto lock = fixture.releases.lock("c.1", "net1", Deadline::in(Duration(1000)));
    REQUIRE(lock);
    CHECK(fixture.releases.remove({"c.1", "net1", "a"}));
    CHECK(fixture.releases.remove({"c.1", "net1", "b"}));
    CHECK(fixture.releases.lock("c.1", "net1", Deadline::in(Duration(0))).error().code() ==
          Code::unavailable);
  }
  CHECK_FALSE(path_exists(fixture.folder));
}

TEST_CASE("what a killed writer has left goes with the next lock") {
  Fixture fixture;
  std::filesystem::create_directories(fixture.folder);
  fixture.state.write("addresses/c.1:net1/.a.json.tmp", "half");
  CHECK(fixture.releases.all()->empty());
  REQUIRE(fixture.releases.lock("c.1", "net1", Deadline::in(Duration(1000))));
  CHECK_FALSE(path_exists(fixture.folder));
}

TEST_CASE("tidy() removes folders without a release, and none that is locked") {
  Fixture fixture;
  REQUIRE(fixture.releases.write(record("a", "c2")));
  std::filesystem::create_directories(fixture.folder);
  fixture.state.write("addresses/c.1:net1/.a.json.tmp", "half");
  {
    const auto lock = fixture.releases.lock("c.1", "net1", Deadline::in(Duration(1000)));
    REQUIRE(lock);
    CHECK(fixture.releases.tidy());
    CHECK(fixture.releases.tidy("c.1", "net1"));
    CHECK(path_exists(fixture.folder));
    fixture.state.write("addresses/c.1:net1/.b.json.tmp", "half");
  }
  CHECK(path_exists(fixture.folder));
  CHECK(fixture.releases.tidy());
  CHECK_FALSE(path_exists(fixture.folder));
  CHECK(fixture.releases.all().value() == std::vector<AddressReleaseName>{{"c2", "net1", "a"}});
}

TEST_CASE("a file that is damaged, or speaks of another attempt, is not obeyed") {
  Fixture fixture;
  REQUIRE(fixture.releases.write(record("a")));
  std::filesystem::copy_file(fixture.folder / "a.json", fixture.folder / "b.json");
  CHECK(fixture.releases.read({"c.1", "net1", "b"}).error().code() == Code::invalid);
  fixture.state.write("addresses/c.1:net1/a.json", "{");
  CHECK(fixture.releases.read({"c.1", "net1", "a"}).error().code() == Code::invalid);
  CHECK(fixture.releases.all()->size() == 2);
}

TEST_CASE("an attempt that is not a file name makes no file") {
  Fixture fixture;
  for (const char* attempt : {"", ".a", "../a", "a/b"}) {
    CAPTURE(attempt);
    CHECK(fixture.releases.write(record(attempt)).error().code() == Code::invalid);
  }
  CHECK_FALSE(path_exists(fixture.state.path() / "addresses"));
}

}  // namespace
}  // namespace ibpod::node
