// The channel of a port, on a subnet that OpenSM has configured.
#include "lib/mad/query.h"
#include "lib/mad/umad_channel.h"
#include "sm/probe/discovery.h"
#include "tests/fabric/background.h"
#include "tests/fabric/watching.h"
#include "tests/support/port_tables.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using ib::PKey;
using namespace std::chrono_literals;

constexpr uint64_t kFirstHost = 0x100000;
constexpr uint64_t kFirstSwitch = 0x200000;

// Nothing gets lost here: a slow machine is not a silent port.
mad::QueryOptions long_timeout() {
  return {.retry = {.deadline = Deadline::in(60s), .timeout = 10s}};
}

struct Fixture {
  std::unique_ptr<mad::Scheduler> scheduler = new_scheduler();
  fabric::Topology topology = sm::probe::discover(*scheduler, long_timeout());

  const fabric::Port& host(unsigned n) {
    const auto* const port = topology.find(ib::Guid(kFirstHost + 2 * n + 1));
    REQUIRE(port);
    return *port;
  }
  mad::Route to_host(unsigned n) { return *mad::Route::to(host(n).lid); }
  ib::PKeyTable table(const mad::PKeyTableAddress& place) {
    const auto tables = mad::read_tables(*scheduler, {place}, long_timeout());
    REQUIRE(mad::value_of(tables.at(0)));
    return *mad::value_of(tables.at(0));
  }
};

// The table as another program reads and prints it.
std::string smpquery(const mad::Route& route) {
  Launch launch{.words = {"smpquery", "pkeys", std::to_string(route.lid())},
                .folder = ".",
                .environment = {{"SIM_HOST", "h6"}}};
  auto program = Background::start(launch);
  REQUIRE(program);
  return program->output();
}

TEST_CASE("a port that this machine does not have is refused with those that it has") {
  const mad::LocalPort own = mad::local_port("", 0).value();
  const std::string there =
      own.device + " port " + std::to_string(own.number) + " with the GUID " + own.guid.text();
  CHECK(mad::local_port(own.guid).value().device == own.device);
  for (const Error& error :
       {mad::local_port("mlx5_9", 0).error(), mad::local_port(own.device, 7).error(),
        mad::local_port("", 7).error(), mad::local_port(ib::Guid(own.guid.value() - 1)).error()}) {
    CHECK(error.code() == Code::not_found);
    CHECK_MESSAGE(error.text().find(there) != std::string::npos, error.text());
  }
  CHECK(
      mad::local_port(own.device, 7).error().text().find(own.device + " port 7; its ports are ") !=
      std::string::npos);
}

TEST_CASE("a survey finds all ports of the subnet, and its manager") {
  Fixture fixture;
  CHECK(fixture.topology.is_complete());
  CHECK(fixture.topology.ports().size() == 10);
  for (const fabric::Port& port : fixture.topology.ports()) {
    const bool is_switch = port.guid.value() >= kFirstSwitch;
    CAPTURE(port.guid.text());
    CHECK((port.node == mad::NodeType::switch_node) == is_switch);
    CHECK(port.partition_cap == (is_switch ? 8 : 64));
    CHECK(port.lid != 0);
    if (!is_switch) CHECK(port.state == ib::PortState::active);
    CHECK(port.switch_port.has_value() == !is_switch);
  }
  for (unsigned n = 0; n < 8; ++n) {
    CAPTURE(n);
    CHECK(fixture.host(n).description == "h" + std::to_string(n));
    const fabric::SwitchPort& leaf = *fixture.host(n).switch_port;
    CHECK((leaf.switch_guid == ib::Guid(kFirstSwitch)) == (n < 4));
    CHECK(leaf.port == n % 4 + 1);
    REQUIRE(leaf.enforcement);
    CHECK(leaf.enforcement->partition_cap == 64);
  }
  CHECK(fixture.host(7).path == mad::Route::own());
  REQUIRE(fixture.topology.managers().size() == 1);
  const fabric::DiscoveredSm& manager = fixture.topology.managers()[0];
  CHECK(manager.port == fixture.host(0).guid);
  REQUIRE(mad::value_of(manager.info));
  CHECK(mad::value_of(manager.info)->state == mad::SmState::master);
}

TEST_CASE("all ports are read at once by LID and say the same as by their paths") {
  Fixture fixture;
  std::vector<mad::PortAddress> by_lid;
  std::vector<mad::PortAddress> by_path;
  for (const fabric::Port& port : fixture.topology.ports()) {
    by_lid.push_back({*mad::Route::to(port.lid), port.number});
    by_path.push_back({port.path, port.number});
  }
  const auto here = mad::read_port_infos(*fixture.scheduler, by_lid, long_timeout());
  const auto there = mad::read_port_infos(*fixture.scheduler, by_path, long_timeout());
  for (size_t i = 0; i < by_lid.size(); ++i) {
    CAPTURE(by_lid[i].route.text());
    REQUIRE(mad::value_of(here[i]));
    REQUIRE(mad::value_of(there[i]));
    mad::PortInfo info = *mad::value_of(here[i]);
    CHECK(info.sm_lid == fixture.host(0).lid);
    info.local_port = mad::value_of(there[i])->local_port;  // where the question came in
    CHECK(info == *mad::value_of(there[i]));
  }
  CHECK(fixture.scheduler->counts().lost == 0);
  CHECK(fixture.scheduler->counts().stray == 0);
}

TEST_CASE("the P_Key tables of all hosts are read at once, as partitions.conf has them") {
  Fixture fixture;
  std::vector<mad::PKeyTableAddress> tables;
  for (unsigned n = 0; n < 8; ++n) tables.push_back({{fixture.to_host(n)}, 64});
  const auto read = mad::read_tables(*fixture.scheduler, tables, long_timeout());
  for (unsigned n = 0; n < 8; ++n) {
    CAPTURE(n);
    REQUIRE(mad::value_of(read.at(n)));
    const ib::PKeyTable& table = *mad::value_of(read[n]);
    CHECK(ib::find_in(table, n == 0 ? ib::kDefaultFull : PKey(0x7fff)).has_value());
    const auto blue = ib::find_in(table, PKey(0x0001));
    CHECK(blue.has_value() == (n == 1 || n == 5));
    if (n == 1) CHECK(table.at(*blue) == PKey(0x8001));
    if (n == 5) CHECK(table.at(*blue) == PKey(0x0001));
  }
}

TEST_CASE("the port of a leaf switch has its host's keys") {
  Fixture fixture;
  for (const unsigned n : {1U, 2U}) {
    const fabric::SwitchPort leaf = *fixture.host(n).switch_port;
    const auto table = fixture.table({{leaf.route, leaf.port}, leaf.enforcement->partition_cap});
    CHECK(ib::find_in(table, PKey(0x8001)).has_value() == (n == 1));
    const mad::Route path = fixture.topology.find(leaf.switch_guid)->path;
    CHECK(fixture.table({{path, leaf.port}, leaf.enforcement->partition_cap}) == table);
  }
}

TEST_CASE("what is written into a table is there for everybody") {
  Fixture fixture;
  for (const mad::Route& route : {fixture.to_host(3), fixture.host(3).path}) {
    const PKey key(route.directed() ? 0x8124 : 0x8123);
    const ib::PKeyTable before = fixture.table({{route}, 64});
    mad::PKeyBlock block = mad::block_of(before, 0);
    block.at(9) = key;
    const auto written =
        mad::write_blocks(*fixture.scheduler, {{{route}, 0, block}}, long_timeout());
    REQUIRE(mad::value_of(written.at(0)));
    CHECK(*mad::value_of(written.at(0)) == block);
    CHECK(smpquery(fixture.to_host(3)).find(key.text()) != std::string::npos);
    CHECK(mad::different_blocks(before, fixture.table({{route}, 64})) == std::vector<uint16_t>{0});
    const auto back = mad::write_blocks(*fixture.scheduler,
                                        {{{route}, 0, mad::block_of(before, 0)}}, long_timeout());
    REQUIRE(mad::value_of(back.at(0)));
    CHECK(fixture.table({{route}, 64}) == before);
  }
}

TEST_CASE("a block that a table does not have is refused; who is not there is silent") {
  Fixture fixture;
  const auto tables = mad::read_tables(
      *fixture.scheduler, {{{fixture.to_host(3)}, 96}, {{*mad::Route::to(999)}, 32}}, {});
  REQUIRE(mad::failure_of(tables.at(0)));
  CHECK(*mad::failure_of(tables[0]) == mad::Failure{mad::Reason::refused, mad::kStatusBadValue});
  REQUIRE(mad::failure_of(tables.at(1)));
  CHECK(mad::failure_of(tables[1])->reason == mad::Reason::timeout);
}

TEST_CASE("the subnet manager says that it is master") {
  Fixture fixture;
  const auto infos = mad::read_sm_infos(*fixture.scheduler, {fixture.to_host(0)}, long_timeout());
  REQUIRE(mad::value_of(infos.at(0)));
  CHECK(mad::value_of(infos[0])->state == mad::SmState::master);
  CHECK(mad::value_of(infos[0])->guid == ib::Guid(kFirstHost + 1));
  CHECK(mad::value_of(infos[0])->activity > 0);
}

TEST_CASE("thousands of questions go through one window") {
  Fixture fixture;
  std::vector<mad::PKeyTableAddress> tables;
  for (unsigned i = 0; i < 5000; ++i) tables.push_back({{fixture.to_host(i % 8)}, 64});
  size_t read = 0;
  for (const auto& table : mad::read_tables(*fixture.scheduler, tables, long_timeout()))
    read += mad::value_of(table) != nullptr;
  CHECK(read == tables.size());
}

}  // namespace
}  // namespace ibpod
