#include "sm/probe/discovery.h"

#include "tests/support/fake_channel.h"

#include <doctest/doctest.h>

namespace ibpod::sm::probe {
namespace {

using namespace std::chrono_literals;
using fabric::Port;
using fabric::Topology;

constexpr ib::Lid kOwn = 1;
constexpr ib::Lid kLeaf = 100;       // the first of two
constexpr ib::Lid kSpine = 110;      // the first of two
constexpr ib::Lid kHostsOfLeaf = 6;  // including our own
constexpr uint16_t kLeafPlaces = 64;

// Two leaf switches with six hosts each, and two spines connected to both: the subnet has loops.
struct Bed {
  FakeSubnet subnet;
  FakeChannel* channel = nullptr;
  std::unique_ptr<mad::Scheduler> scheduler;
  // The channel reports losses, so that silence takes no time.
  mad::QueryOptions asking{.retry = {.deadline = Deadline::in(60s), .timeout = 60s, .attempts = 3}};

  explicit Bed(FaultProfile weather = {}) {
    weather.reports_loss = true;
    for (ib::Lid n = 0; n < 2; ++n) {
      FakeSubnetNode& leaf = subnet.add_switch(kLeaf + n, 10, kLeafPlaces);
      for (uint8_t port = 1; port <= kHostsOfLeaf; ++port) {
        const auto lid = static_cast<ib::Lid>(n * kHostsOfLeaf + port);
        subnet.connect({&subnet.add_adapter(lid, 128), 1}, {&leaf, port});
      }
    }
    for (ib::Lid n = 0; n < 2; ++n) {
      FakeSubnetNode& spine = subnet.add_switch(kSpine + n, 4, kLeafPlaces);
      for (ib::Lid leaf = 0; leaf < 2; ++leaf) {
        subnet.connect({&spine, static_cast<uint8_t>(1 + leaf)},
                       {&subnet.at(kLeaf + leaf), static_cast<uint8_t>(9 + n)});
      }
    }
    auto made = std::make_unique<FakeChannel>(subnet, weather);
    channel = made.get();
    scheduler = std::make_unique<mad::Scheduler>(std::move(made));
  }
  Topology look(const DiscoveryLimits& limits = {}) { return discover(*scheduler, asking, limits); }
  // Gives a host the GUIDs of another one.
  void copy_guid(ib::Lid from, ib::Lid to) {
    subnet.at(to).info.node_guid = subnet.at(from).info.node_guid;
    subnet.at(to).ports.at(1).guid = subnet.at(from).ports.at(1).guid;
  }
  bool doubtful(const Topology& topology, ib::Lid lid) {
    const Port* const port = topology.find(subnet.port_guid(lid));
    return port == nullptr || topology.is_ambiguous(*port);
  }
};

TEST_CASE("every end port is found once, loops or not") {
  Bed bed;
  const Topology topology = bed.look();
  CHECK(topology.is_complete());
  CHECK(topology.ports().size() == 2 * kHostsOfLeaf + 4);
  for (ib::Lid lid = kOwn; lid <= 2 * kHostsOfLeaf; ++lid) {
    CAPTURE(lid);
    const Port* const port = topology.find(bed.subnet.port_guid(lid));
    REQUIRE(port);
    CHECK(port->node_guid == bed.subnet.at(lid).info.node_guid);
    CHECK(port->node == mad::NodeType::channel_adapter);
    CHECK(port->description == "host " + std::to_string(lid));
    CHECK(port->lid == lid);
    CHECK(port->partition_cap == 128);
    CHECK(port->state == ib::PortState::active);
    CHECK(port->number == 1);
  }
}

TEST_CASE("a port is told with the port of the switch that it is behind, our own, too") {
  Bed bed;
  bed.subnet.at(kLeaf + 1).ports.at(2).info.enforces_inbound = true;
  const Topology topology = bed.look();
  for (ib::Lid lid = kOwn; lid <= 2 * kHostsOfLeaf; ++lid) {
    CAPTURE(lid);
    const auto leaf = topology.find(bed.subnet.port_guid(lid))->switch_port;
    const ib::Lid switch_lid = lid <= kHostsOfLeaf ? kLeaf : kLeaf + 1;
    REQUIRE(leaf);
    CHECK(leaf->switch_guid == bed.subnet.port_guid(switch_lid));
    CHECK(leaf->route == *mad::Route::to(switch_lid));
    CHECK(leaf->port == (lid - 1) % kHostsOfLeaf + 1);
    CHECK(leaf->enforcement ==
          fabric::SwitchEnforcement{kLeafPlaces, lid == kHostsOfLeaf + 2, false});
  }
  CHECK(!topology.find(bed.subnet.port_guid(kSpine))->switch_port);
}

TEST_CASE("what a port says of its protection and its prefix is kept") {
  Bed bed;
  auto& info = bed.subnet.at(3).ports.at(1).info;
  info.subnet_prefix = 0xfe80000000000001;
  info.m_key_protection = 1;
  info.m_key_lease = 77;
  info.state = ib::PortState::armed;
  const Port port = *bed.look().find(bed.subnet.port_guid(3));
  CHECK(port.subnet_prefix == 0xfe80000000000001);
  CHECK(port.m_key_protection == 1);
  CHECK(port.m_key_lease == 77);
  CHECK(port.state == ib::PortState::armed);
}

TEST_CASE("before there are LIDs the paths lead there") {
  Bed bed;
  for (ib::Lid lid : {ib::Lid{9}, ib::Lid{kLeaf + 1}})
    bed.subnet.at(lid).ports.begin()->second.info.lid = 0;
  const Topology topology = bed.look();
  CHECK(topology.is_complete());
  const Port* const port = topology.find(bed.subnet.port_guid(9));
  REQUIRE(port);
  CHECK(port->route() == port->path);
  CHECK(port->path.directed());
  CHECK(port->switch_port->route.directed());
}

TEST_CASE("each port of an adapter is one of its own") {
  Bed bed;
  FakeSubnetNode& twin = bed.subnet.add_adapter(50, 128, 2);
  bed.subnet.connect({&twin, 1}, {&bed.subnet.at(kLeaf), 7});
  bed.subnet.connect({&twin, 2}, {&bed.subnet.at(kLeaf + 1), 7});
  const Topology topology = bed.look();
  CHECK(topology.is_complete());
  for (const uint8_t number : {uint8_t{1}, uint8_t{2}}) {
    const Port* const port = topology.find(twin.ports.at(number).guid);
    REQUIRE(port);
    CHECK(port->number == number);
    CHECK(port->lid == 49 + number);
    CHECK(port->switch_port->switch_guid ==
          bed.subnet.port_guid(static_cast<ib::Lid>(kLeaf + number - 1)));
  }
}

TEST_CASE("subnet managers are asked what they are") {
  Bed bed;
  for (const ib::Lid lid : {ib::Lid{2}, ib::Lid{8}})
    bed.subnet.at(lid).ports.at(1).info.capabilities = mad::kCapabilitySm;
  bed.subnet.at(2).manager = mad::SmInfo{bed.subnet.port_guid(2), 5, 14, mad::SmState::master};
  const Topology topology = bed.look();
  REQUIRE(topology.managers().size() == 2);
  CHECK(topology.managers()[0].port == bed.subnet.port_guid(2));
  CHECK(mad::value_of(topology.managers()[0].info)->priority == 14);
  CHECK(mad::value_of(topology.managers()[0].info)->state == mad::SmState::master);
  CHECK(topology.managers()[1].port == bed.subnet.port_guid(8));
  CHECK(mad::failure_of(topology.managers()[1].info)->reason == mad::Reason::refused);
}

TEST_CASE("who is silent is unseen, and not absent") {
  Bed bed;
  bed.subnet.at(4).silent = true;
  const Topology topology = bed.look();
  CHECK(!topology.is_complete());
  CHECK(topology.find(bed.subnet.port_guid(4)) == nullptr);
  REQUIRE(topology.unanswered_count() == 1);
  CHECK(topology.unanswered()[0].path == *mad::Route::along({1, 4}));
  CHECK(topology.unanswered()[0].attribute == mad::Attribute::node_info);
  CHECK(topology.unanswered()[0].why.reason == mad::Reason::timeout);
  CHECK(topology.ports().size() == 2 * kHostsOfLeaf + 3);
}

TEST_CASE("at whichever question a node falls silent, it is not taken for whole") {
  for (const ib::Lid lid : {ib::Lid{5}, kLeaf, ib::Lid{kLeaf + 1}, kSpine}) {
    int answers = 0;
    for (;; ++answers) {
      CAPTURE(lid);
      CAPTURE(answers);
      Bed bed;
      FakeSubnetNode& node = bed.subnet.at(lid);
      node.silent_after = answers;
      const Topology topology = bed.look();
      if (!node.silent) break;
      // The description is only for display.
      const bool only_unnamed = lid == 5 && topology.find(bed.subnet.port_guid(5)) != nullptr &&
                                topology.find(bed.subnet.port_guid(5))->description.empty() &&
                                topology.find(bed.subnet.port_guid(5))->lid != 0;
      CHECK(topology.is_complete() == only_unnamed);
    }
    CHECK(answers >= 3);
  }
}

TEST_CASE("a port that is unplugged before its switch has described it is absent") {
  Bed bed;
  bed.subnet.at(kLeaf).before_answer = [&](mad::Attribute asked) {
    const bool plugged = !bed.subnet.at(5).ports.at(1).unplugged;
    if (asked == mad::Attribute::port_info && plugged) bed.subnet.unplug({&bed.subnet.at(5), 1});
  };
  const Topology topology = bed.look();
  CHECK(topology.is_complete());
  CHECK(topology.find(bed.subnet.port_guid(5)) == nullptr);
  CHECK(topology.ports().size() == 2 * kHostsOfLeaf + 3);
}

TEST_CASE("a port that is unplugged after its switch has described it is unseen") {
  Bed bed;
  bed.subnet.at(5).before_answer = [&](mad::Attribute asked) {
    const bool plugged = !bed.subnet.at(5).ports.at(1).unplugged;
    if (asked == mad::Attribute::node_info && plugged) bed.subnet.unplug({&bed.subnet.at(5), 1});
  };
  const Topology topology = bed.look();
  CHECK_FALSE(topology.is_complete());
  REQUIRE(topology.unanswered_count() > 0);
  for (const auto& unseen : topology.unanswered()) CHECK(unseen.path == *mad::Route::along({1, 5}));
  CHECK(topology.ports().size() >= 2 * kHostsOfLeaf + 3);
}

TEST_CASE("a GUID that is met at two places is told, and who has it is in doubt") {
  Bed bed;
  bed.copy_guid(3, 9);
  const Topology topology = bed.look();
  CHECK(topology.duplicates() == std::set<ib::Guid>{bed.subnet.port_guid(3)});
  CHECK(!topology.is_complete());
  for (ib::Lid lid = kOwn; lid <= 2 * kHostsOfLeaf; ++lid)
    CHECK(bed.doubtful(topology, lid) == (lid == 3 || lid == 9));
}

TEST_CASE("two on one switch with one GUID are two") {
  Bed bed;
  bed.copy_guid(3, 4);
  CHECK(bed.look().duplicates() == std::set<ib::Guid>{bed.subnet.port_guid(3)});
}

TEST_CASE("our own GUID elsewhere is a second one") {
  Bed bed;
  bed.copy_guid(kOwn, 9);
  CHECK(bed.look().duplicates() == std::set<ib::Guid>{bed.subnet.port_guid(kOwn)});
}

TEST_CASE("a switch that is there twice puts those behind it in doubt") {
  Bed bed;
  FakeSubnetNode& copy = bed.subnet.at(kLeaf + 1);
  copy.info = bed.subnet.at(kLeaf).info;
  copy.ports.at(0).guid = copy.info.port_guid;
  const Topology topology = bed.look();
  CHECK(topology.duplicates().contains(bed.subnet.port_guid(kLeaf)));
  for (ib::Lid lid = kOwn; lid <= 2 * kHostsOfLeaf; ++lid) CHECK(bed.doubtful(topology, lid));
}

// It may hide the nodes behind the real switch, but they do not count as absent.
TEST_CASE("an adapter that says that it is a switch makes nothing whole") {
  for (uint8_t port = 1; port <= 10; ++port) {
    CAPTURE(port);
    Bed bed;
    FakeSubnetNode& liar = bed.subnet.at(2);
    liar.info = bed.subnet.at(kLeaf + 1).info;
    liar.switch_info = bed.subnet.at(kLeaf + 1).switch_info;
    liar.ports = bed.subnet.at(kLeaf + 1).ports;
    for (auto& [number, own] : liar.ports) {
      own.peer = {};
      if (number != 0) own.info.state = ib::PortState::down;
    }
    bed.subnet.connect({&liar, port}, {&bed.subnet.at(kLeaf), 2});
    const Topology topology = bed.look();
    CHECK(!topology.is_complete());
    CHECK(topology.duplicates().contains(bed.subnet.port_guid(kLeaf + 1)));
    for (ib::Lid lid = kOwn; lid <= kHostsOfLeaf; ++lid) {
      if (lid != 2) CHECK(!bed.doubtful(topology, lid));
    }
  }
}

TEST_CASE("of a switch that does not say whether it enforces it is not known") {
  Bed bed;
  bed.subnet.at(kLeaf + 1).lacks = mad::Attribute::switch_info;
  const Topology topology = bed.look();
  CHECK(!topology.is_complete());
  const auto leaf = topology.find(bed.subnet.port_guid(12))->switch_port;
  REQUIRE(leaf);
  CHECK(!leaf->enforcement);
}

TEST_CASE("a subnet that is invented while it is walked ends somewhere") {
  Bed bed;
  FakeSubnetNode& liar = bed.subnet.at(kSpine);
  liar.invents = true;
  for (auto& [number, port] : liar.ports) port.info.state = ib::PortState::active;
  const Topology by_nodes = bed.look({.nodes = 200});
  CHECK(!by_nodes.is_complete());
  CHECK(by_nodes.ports().size() == 200);
  const Topology by_questions = bed.look({.requests = 3000});
  CHECK(!by_questions.is_complete());
  // Most invented nodes are farther away than the real ones.
  for (ib::Lid lid = kOwn; lid <= 2 * kHostsOfLeaf; ++lid)
    CHECK(by_questions.find(bed.subnet.port_guid(lid)) != nullptr);
}

TEST_CASE("more links than are followed at once are followed all the same") {
  constexpr uint8_t kSwitches = 41;
  constexpr uint8_t kPorts = 101;  // 1 to the hub; over all, 4100 to no node or to a host
  Bed bed;
  FakeSubnetNode& hub = bed.subnet.add_switch(200, kSwitches + 1, kLeafPlaces);
  bed.subnet.connect({&hub, kSwitches + 1}, {&bed.subnet.at(kLeaf), 7});
  for (uint8_t n = 1; n <= kSwitches; ++n) {
    FakeSubnetNode& edge =
        bed.subnet.add_switch(static_cast<ib::Lid>(200 + n), kPorts, kLeafPlaces);
    bed.subnet.connect({&hub, n}, {&edge, 1});
    for (uint8_t port = 2; port <= kPorts; ++port)
      edge.ports.at(port).info.state = ib::PortState::active;
  }
  FakeSubnetNode& last = bed.subnet.add_adapter(300, 64);
  bed.subnet.connect({&last, 1}, {&bed.subnet.at(200 + kSwitches), kPorts});
  const Topology topology = bed.look();
  CHECK(topology.unanswered_count() == kSwitches * (kPorts - 1) - 1);
  CHECK(topology.ports().size() == 2 * kHostsOfLeaf + 4 + 1 + kSwitches + 1);
  const Port* const port = topology.find(bed.subnet.port_guid(300));
  REQUIRE(port);
  CHECK(port->switch_port->route == *mad::Route::to(200 + kSwitches));
}

TEST_CASE("GUIDs that no port can have are malformed") {
  for (const ib::Guid none : {ib::Guid(0), ib::kNoGuid}) {
    Bed bed;
    bed.subnet.at(3).ports.at(1).guid = none;
    bed.subnet.at(4).info.node_guid = none;
    const Topology topology = bed.look();
    REQUIRE(topology.unanswered_count() == 2);
    CHECK(topology.unanswered()[0].why.reason == mad::Reason::malformed);
    CHECK(topology.find(none) == nullptr);
  }
}

TEST_CASE("in foul weather it ends, and what it says it has seen is there") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Bed bed({.question_lost = 0.1,
             .answer_lost = 0.1,
             .duplicated = 0.2,
             .corrupt = 0.05,
             .seed = seed});
    bed.asking.retry.timeout = 2ms;  // an answer with a damaged header matches no request
    const Topology topology = bed.look();
    for (const Port& port : topology.ports()) CHECK(!port.guid.none());
    if (topology.is_complete()) CHECK(topology.ports().size() == 2 * kHostsOfLeaf + 4);
  }
}

TEST_CASE("answers that say anything end it, too") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Bed bed({.mangled = 0.3, .seed = seed});
    const Topology topology = bed.look({.nodes = 300, .requests = 5000});
    CHECK(topology.ports().size() <= 300);
  }
}

TEST_CASE("without any answer there is nothing to see, and that is said") {
  Bed bed({.question_lost = 1});
  const Topology topology = bed.look();
  CHECK(topology.ports().empty());
  CHECK(topology.unanswered_count() == 1);
  CHECK(!topology.is_complete());
}

TEST_CASE("a stop ends it") {
  Bed bed;
  std::stop_source source;
  bed.asking.stop = source.get_token();
  source.request_stop();
  const Topology topology = bed.look();
  CHECK(!topology.is_complete());
  CHECK(topology.unanswered().at(0).why.reason == mad::Reason::cancelled);
}

}  // namespace
}  // namespace ibpod::sm::probe
