// `ibpodctl doctor` on a fabric that has a fault: the finding names it, and is gone when its remedy
// has been applied.
#include "tests/fabric/sm/sm_fixture.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// The text of doctor's finding on that subject.
std::string found(const SmProcess& fixture, std::string_view text) {
  const auto health = fixture.client().health(SmFixture::deadline_in());
  if (!health) FAIL(health.error().text());
  for (const v1::FabricHealthResponse::Finding& finding : health->findings())
    if (finding.text().find(text) != std::string::npos) return finding.text();
  return "";
}

// Two looks at all ports are a minute apart.
struct SlowFixture : SmProcess {
  SlowFixture() : SmProcess({.hosts = kHosts - 1, .scan_seconds = 60}) {}
  Subnet subnet;
};

TEST_CASE("an edit of partitions.conf that is undone is told of until it is taken back") {
  SmFixture fixture;
  const std::string before = read_file(fixture.partitions_conf()).value();
  std::ofstream(fixture.partitions_conf(), std::ios::app)
      << "hosts=0x8200, ipoib : 0x506b4b0300430009=full;\n";
  fixture.until([&] { return found(fixture, "was undone").find("0x8200") != std::string::npos; });
  CHECK(read_file(fixture.partitions_conf()).value() == before);
  CHECK(fixture.metric("ibpod_sm_weaknesses{kind=\"undone_edit\"}") == 1);
  REQUIRE(std::filesystem::remove(fixture.partitions_conf().string() + ".refused"));
  fixture.until([&] { return found(fixture, "was undone").empty(); });
  CHECK(fixture.metric("ibpod_sm_weaknesses{kind=\"undone_edit\"}") == 0);
}

TEST_CASE("tables are looked at again once OpenSM has written them, and not a minute later") {
  SlowFixture fixture;
  for (const unsigned host : {1u, 2u}) {
    ib::PKeyTable table = fixture.subnet.tables().at(host);
    table[0] = ib::kDefaultFull;
    fixture.subnet.write(host, table);
  }
  const auto begun = std::chrono::steady_clock::now();
  fixture.start();
  fixture.until([&] { return found(fixture, "0xffff").empty(); });
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(50));
  CHECK(fixture.is_healthy());
}

}  // namespace
}  // namespace ibpod
