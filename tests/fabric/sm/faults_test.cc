// Whatever is killed, edited or altered: no key stays where it should not, none is missing where it
// was acknowledged, and the state that is shown is true.
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
  SmBed bed;
  bed.partition("blue");
  std::mt19937 random(setting("SEED", 1U));
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    // Underway when it is killed; nobody knows how far.
    std::vector<std::future<std::string>> underway;
    for (unsigned host = 2; host < 5; ++host)
      underway.push_back(std::async(std::launch::async, [&bed, host] {
        return host % 2 == 0 ? bed.bind(host, "blue") : bed.unbind(host);
      }));
    CHECK(bed.bind(1, "blue") == "verified");
    for (auto n = random() % 4; n > 0; --n) (void)bed.subnet.tables();  // as long as that takes
    bed.kill();
    for (auto& one : underway) one.wait();
    CHECK_MESSAGE(ib::find_in(bed.table(1), ib::PKey(0x8001)), "OpenSM goes on with what it has");
    bed.start();
    for (unsigned host = 2; host < 5; ++host)
      CHECK((host % 2 == 0 ? bed.bind(host, "blue") : bed.unbind(host)) ==
            (host % 2 == 0 ? "verified" : "released"));
    CHECK(bed.bind(1, "blue") == "verified");
    check_truth(bed);
    for (unsigned host = 1; host < 5; ++host) CHECK(bed.unbind(host) == "released");
    check_truth(bed);
  }
}

TEST_CASE("an OpenSM that is killed is started again, and a Bind meanwhile is done then") {
  SmBed bed;
  bed.partition("blue");
  CHECK(bed.bind(1, "blue") == "verified");
  for (int round = 0; round < 3; ++round) {
    bed.kill_opensm();
    CHECK(bed.bind(2, "blue") == "verified");
    bed.until_well();
    check_truth(bed);
    CHECK(bed.unbind(2) == "released");
  }
  check_truth(bed);
}

TEST_CASE("tables that are altered by hand, and a file that is, are put right") {
  SmBed bed;
  bed.partition("blue");
  for (unsigned host = 1; host < 5; ++host) REQUIRE(bed.bind(host, "blue") == "verified");
  for (unsigned host = 1; host < 5; ++host) {
    ib::PKeyTable table = bed.table(host);
    for (ib::PKey& key : table)
      if (key == ib::PKey(0x8001)) key = host % 2 == 0 ? ib::PKey() : ib::PKey(0x0001);
    table.at(40) = ib::PKey(0x8666);
    bed.subnet.write(host, table);
  }
  bed.until([&] {
    const std::vector<ib::PKeyTable> tables = bed.subnet.tables();
    for (unsigned host = 1; host < 5; ++host)
      if (keys_in(tables[host]) != std::vector{ib::PKey(0x7fff), ib::PKey(0x8001)}) return false;
    return true;
  });
  bed.until([&] { return bed.all_verified(); });
  check_truth(bed);

  const std::string good = read_file(bed.partitions_conf()).value();
  std::ofstream(bed.partitions_conf()) << "Default=0x7fff : ALL=full;\n";
  bed.until([&] { return read_file(bed.partitions_conf()).value() == good; });
  bed.until_well();
  CHECK(bed.bind(5, "blue") == "verified");
  // What had been verified was in doubt, and is read again.
  bed.until([&] { return bed.all_verified(); });
  check_truth(bed);
}

TEST_CASE("a port that no subnet has is told by its reason, and gets its key when it comes") {
  SmBed bed;
  bed.partition("blue");
  fabricapi::BindRequest request = SmBed::request(1, "blue");
  request.guid = ib::Guid(0x0002c90300a1b2c3);
  const auto bound = bed.client().bind(request, SmBed::patience(Duration(3000)));
  REQUIRE(bound);
  CHECK(bound->state != fabric::State::verified);
  CHECK(bound->standing.reason == fabric::Reason::port_unknown);
}

}  // namespace
}  // namespace ibpod
