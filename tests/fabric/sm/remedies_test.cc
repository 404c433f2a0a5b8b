// Findings of `ibpodctl doctor` on a real OpenSM: each is planted and reported, and gone when its
// remedy is done. All findings, on a modeled subnet:
// sm/diagnose/remedies_test.cc.
#include "tests/fabric/simulation.h"
#include "tests/fabric/sm/sm_fixture.h"

#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using Finding = v1::FabricHealthResponse::Finding;

class RemedyFixture : public SmProcess {
 public:
  explicit RemedyFixture(std::string more = {}, std::string opensm = {})
      : SmProcess({.hosts = kHosts - 1, .more = std::move(more), .opensm = std::move(opensm)}) {}

  // Waits for the finding with that text; the test fails if it does not come.
  Finding named(const std::string& text) {
    Finding found;
    CAPTURE(text);
    until([&] { return !(found = finding(text)).text().empty(); });
    return found;
  }
  void gone(const std::string& text) {
    CAPTURE(text);
    std::string left;
    CAPTURE(left);
    until([&] { return (left = finding(text).text()).empty(); });
  }
  void restart(std::string more, std::string opensm) {
    end();
    configure(std::move(more), std::move(opensm));
    start();
  }
  Subnet subnet;

 private:
  Finding finding(const std::string& text) const {
    const auto health = client().health(SmFixture::deadline_in());
    if (!health) FAIL(health.error().text());
    for (const Finding& one : health->findings())
      if ((one.subject() + ": " + one.text()).find(text) != std::string::npos) return one;
    return {};
  }
};

bool says(const Finding& finding, std::string_view text) {
  return finding.remedy().find(text) != std::string::npos;
}

TEST_CASE("a default partition of full members: others are made limited, ibpod-sm is restarted") {
  RemedyFixture fixture(R"("defaultPartition": {"others": "full"})");
  fixture.start();
  CHECK(says(fixture.named("its rule makes every port a full member"),
             "set defaultPartition.others to limited in ibpod-sm's configuration"));
  CHECK(says(fixture.named("0xffff"), "set defaultPartition.others to limited"));
  fixture.restart(R"("defaultPartition": {"others": "limited"})", "");
  fixture.gone("its rule makes every port a full member");
  fixture.gone("0xffff");
}

// ibsim's ports keep no M_Key: how they are protected is tested in virtual machines.
TEST_CASE("default keys: files are written and named, and ibpod-sm is restarted") {
  TempFolder keys;
  RemedyFixture fixture;
  fixture.start();
  std::string opensm;
  for (const auto* const key : {"m", "sm", "sa"}) {
    const std::string name(key);
    CHECK(says(
        fixture.named(name + "_key: is OpenSM's default"),
        "name it as opensm." + name + "KeyFile in ibpod-sm's configuration, and restart ibpod-sm"));
    opensm +=
        "\"" + name + R"(KeyFile": ")" + keys.write(name, "0x5ec0de0000000001").native() + "\", ";
  }
  fixture.restart("", opensm + R"("mKeyProtection": 2)");
  for (const auto* const key : {"m_key: is", "sm_key: is", "sa_key: is"}) fixture.gone(key);
}

TEST_CASE("a declared file with a mistake: the file is corrected") {
  TempFolder folder;
  const Path file = folder.write("partitions.json",
                                 R"({"partitions": [{"name": "bad name", "pkey": "0x1001"}]})");
  RemedyFixture fixture(R"("declaredPartitions": ")" + file.native() + "\"");
  fixture.start();
  CHECK(says(fixture.named("bad name"), "correct the file that declaredPartitions names"));
  folder.write("partitions.json", R"({"partitions": [{"name": "good", "pkey": "0x1001"}]})");
  fixture.gone("bad name");
  CHECK(fixture.client().list_partitions({}, SmFixture::deadline_in())->items.size() == 1);
}

TEST_CASE("a key file that others can read: its mode is corrected") {
  TempFolder keys;
  const Path key = keys.write("m", "0x5ec0de0000000001");
  const std::string opensm = R"("mKeyFile": ")" + key.native() + "\"";
  RemedyFixture fixture("", opensm);
  fixture.start();
  std::filesystem::permissions(key, std::filesystem::perms(0644));
  fixture.restart("", opensm);
  CHECK(says(fixture.named("has mode 0644"), "correct the file's mode or owner"));
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  fixture.gone("has mode 0644");
}

TEST_CASE("another subnet manager: it is stopped") {
  RemedyFixture fixture;
  fixture.start();
  TempFolder folder;
  auto environment = Simulation::environment("h5", std::getenv("IBSIM_SOCKNAME"));
  environment["OSM_TMP_DIR"] = environment["OSM_CACHE_DIR"] = folder.path().native();
  Launch launch{.words = {Simulation::opensm().native(), "-p", "0", "-f", "stdout"},
                .folder = folder.path(),
                .environment = std::move(environment)};
  {
    auto rival = Background::start(launch);
    REQUIRE(rival);
    CHECK(says(fixture.named("another subnet manager"), "stop it (opensm on that host"));
  }
  fixture.gone("another subnet manager");
}

}  // namespace
}  // namespace ibpod
