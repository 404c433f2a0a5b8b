// After any kill, edit or change of a table: no key stays on a port that should not have it, none
// is missing that was acknowledged, and the state that is shown is true.
#include "tests/fabric/setting.h"
#include "tests/fabric/sm/sm_fixture.h"
#include "tests/fabric/sm/table_checks.h"

#include <fstream>
#include <future>
#include <random>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("killed at any moment, it comes back with what it had acknowledged") {
  SmFixture fixture;
  fixture.create_partition("blue");
  std::mt19937 random(setting("SEED", 1U));
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    // Underway when it is killed; nobody knows how far.
    std::vector<std::future<std::string>> underway;
    for (unsigned host = 2; host < 5; ++host)
      underway.push_back(std::async(std::launch::async, [&fixture, host] {
        return host % 2 == 0 ? fixture.bind(host, "blue") : fixture.unbind(host);
      }));
    CHECK(fixture.bind(1, "blue") == "verified");
    for (auto n = random() % 4; n > 0; --n) (void)fixture.subnet.tables();  // as long as that takes
    fixture.kill();
    for (auto& one : underway) one.wait();
    CHECK_MESSAGE(ib::find_in(fixture.table(1), ib::PKey(0x8001)),
                  "OpenSM goes on with what it has");
    fixture.start();
    for (unsigned host = 2; host < 5; ++host)
      CHECK((host % 2 == 0 ? fixture.bind(host, "blue") : fixture.unbind(host)) ==
            (host % 2 == 0 ? "verified" : "released"));
    CHECK(fixture.bind(1, "blue") == "verified");
    check_tables(fixture);
    for (unsigned host = 1; host < 5; ++host) CHECK(fixture.unbind(host) == "released");
    check_tables(fixture);
  }
}

TEST_CASE("an OpenSM that is killed is started again, and a Bind meanwhile is done then") {
  SmFixture fixture;
  fixture.create_partition("blue");
  CHECK(fixture.bind(1, "blue") == "verified");
  for (int round = 0; round < 3; ++round) {
    fixture.kill_opensm();
    CHECK(fixture.bind(2, "blue") == "verified");
    fixture.until_healthy();
    check_tables(fixture);
    CHECK(fixture.unbind(2) == "released");
  }
  check_tables(fixture);
}

TEST_CASE("tables that are altered by hand, and a file that is, are put right") {
  SmFixture fixture;
  fixture.create_partition("blue");
  for (unsigned host = 1; host < 5; ++host) REQUIRE(fixture.bind(host, "blue") == "verified");
  for (unsigned host = 1; host < 5; ++host) {
    ib::PKeyTable table = fixture.table(host);
    for (ib::PKey& key : table)
      if (key == ib::PKey(0x8001)) key = host % 2 == 0 ? ib::PKey() : ib::PKey(0x0001);
    table.at(40) = ib::PKey(0x8666);
    fixture.subnet.write(host, table);
  }
  fixture.until([&] {
    const std::vector<ib::PKeyTable> tables = fixture.subnet.tables();
    for (unsigned host = 1; host < 5; ++host)
      if (keys_in(tables[host]) != std::vector{ib::PKey(0x7fff), ib::PKey(0x8001)}) return false;
    return true;
  });
  fixture.until([&] { return fixture.all_verified(); });
  check_tables(fixture);

  const std::string good = read_file(fixture.partitions_conf()).value();
  std::ofstream(fixture.partitions_conf()) << "Default=0x7fff : ALL=full;\n";
  fixture.until([&] { return read_file(fixture.partitions_conf()).value() == good; });
  fixture.until_healthy();
  CHECK(fixture.bind(5, "blue") == "verified");
  // Every verified binding was in doubt, and is read again.
  fixture.until([&] { return fixture.all_verified(); });
  check_tables(fixture);
}

TEST_CASE("a port that no subnet has is told by its reason, and gets its key when it comes") {
  SmFixture fixture;
  fixture.create_partition("blue");
  fabricapi::BindRequest request = SmFixture::request(1, "blue");
  request.guid = ib::Guid(0x0002c90300a1b2c3);
  const auto bound = fixture.client().bind(request, SmFixture::deadline_in(Duration(3000)));
  REQUIRE(bound);
  CHECK(bound->state != fabric::BindingState::verified);
  CHECK(bound->condition.reason == fabric::Reason::port_unknown);
}

}  // namespace
}  // namespace ibpod
