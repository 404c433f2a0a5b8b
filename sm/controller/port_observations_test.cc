// The last observation of each port: by whom, when, and what follows from it.
#include "sm/controller/port_observations.h"

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

using fabric::Enforcement;
using fabric::Proof;
using fabric::Reason;
using Kind = Finding::Kind;

constexpr ib::Guid kVf1{0x11}, kVf2{0x12}, kSm{0x01}, kOtherSm{0x02};
constexpr ib::PKey kBlue{0x8001}, kRed{0x8002};
constexpr size_t kMost = 100;

Placements::Time at(int ms) { return Placements::Time(std::chrono::milliseconds(ms)); }

// The partition blue, which has kVf1 as full member.
Wanted blue(bool index0 = false) {
  fabric::Partition blue;
  blue.name = "blue";
  blue.pkey = ib::PKey(1);
  blue.index0 = index0;
  blue.members = {{kVf1, fabric::Membership::full}};
  return Wanted({blue});
}

Reading reading(const TableRead& table, std::optional<LeafReading> leaf = {}) {
  return {.port = kVf1, .table = table, .leaf = std::move(leaf)};
}
LeafReading leaf(const ib::PKeyTable& table) {
  return {.table = table, .inbound = true, .outbound = true};
}
NodeSight told(const ib::PKeyTable& table, uint64_t placed = 1, uint64_t swept = 0, int ms = 0) {
  return {.table = table, .placed = placed, .swept = swept, .at = at(ms)};
}

fabric::Topology::Contents subnet(const std::vector<ib::Guid>& ports) {
  fabric::Topology::Contents contents;
  for (const ib::Guid guid : ports) {
    fabric::SeenPort seen;
    seen.guid = guid;
    contents.ports.push_back(seen);
  }
  return contents;
}
std::shared_ptr<const fabric::Topology> topology(fabric::Topology::Contents contents) {
  return std::make_shared<fabric::Topology>(std::move(contents));
}
std::shared_ptr<const fabric::Topology> topology(const std::vector<ib::Guid>& ports) {
  return topology(subnet(ports));
}
std::shared_ptr<const fabric::Topology> with_masters(const std::vector<ib::Guid>& masters) {
  fabric::Topology::Contents contents = subnet({kSm, kOtherSm, kVf1});
  for (const ib::Guid guid : masters)
    contents.managers.push_back({guid, mad::SmInfo{.guid = guid, .state = mad::SmState::master}});
  return topology(std::move(contents));
}

struct Seen {
  explicit Seen(std::optional<ib::Guid> own_port = {}) : sightings(own_port) {}

  // A reading of kVf1 in version 2, after the sweep of version 1.
  Finding after(const TableRead& table, const std::optional<LeafReading>& leaf = {}) {
    sightings.take(reading(table, leaf), 2, 1, at(++ms));
    return find(2);
  }
  Finding find(uint64_t changed_in, const Wanted& wanted = blue()) const {
    return sightings.find(kVf1, changed_in, wanted);
  }

  Sightings sightings;
  int ms = 0;
};

TEST_CASE_FIXTURE(Seen, "the last reading of a port is kept, and an older one changes nothing") {
  CHECK(sightings.of_port(kVf1) == nullptr);
  CHECK(sightings.ports().empty());
  sightings.take(reading(ib::PKeyTable{kBlue}), 5, 4, at(20));
  sightings.take(reading(ib::PKeyTable{kRed}), 3, 2, at(10));
  REQUIRE(sightings.of_port(kVf1));
  CHECK(sightings.of_port(kVf1)->reading == reading(ib::PKeyTable{kBlue}));
  CHECK(sightings.of_port(kVf1)->placed == 5);
  CHECK(sightings.of_port(kVf1)->swept == 4);
  CHECK(sightings.of_port(kVf1)->at == at(20));
  sightings.take(reading(ib::PKeyTable{kRed}), 6, 5, at(20));
  CHECK(sightings.of_port(kVf1)->placed == 6);
  CHECK(sightings.ports().size() == 1);
  CHECK(sightings.of_port(kVf2) == nullptr);
}

TEST_CASE_FIXTURE(Seen, "a port that has left a whole subnet was seen once, and is not read") {
  CHECK_FALSE(sightings.has_met(kVf1));
  CHECK_FALSE(sightings.has_gone(kVf1));
  const auto both = topology({kVf1, kVf2});
  sightings.take(both);
  CHECK(&sightings.topology() == both.get());
  CHECK(sightings.has_met(kVf1));
  CHECK_FALSE(sightings.has_gone(kVf1));
  sightings.take(reading(ib::PKeyTable{kBlue}), 1, 1, at(1));
  sightings.take(topology({kVf2}));
  CHECK(sightings.has_met(kVf1));
  CHECK(sightings.has_gone(kVf1));
  CHECK_FALSE(sightings.has_gone(kVf2));
  CHECK(sightings.of_port(kVf1) == nullptr);
}

TEST_CASE_FIXTURE(Seen, "where not all of the subnet was seen, a reading is kept") {
  sightings.take(topology({kVf1}));
  sightings.take(reading(ib::PKeyTable{kBlue}), 1, 1, at(1));
  fabric::Topology::Contents part = subnet({kVf2});
  part.unseen_count = 1;
  sightings.take(topology(std::move(part)));
  CHECK(sightings.of_port(kVf1));
  CHECK(sightings.has_gone(kVf1));
}

TEST_CASE_FIXTURE(Seen, "the same topology once more removes no reading that came after it") {
  const auto without = topology({kVf2});
  sightings.take(without);
  sightings.take(reading(ib::PKeyTable{kBlue}), 1, 1, at(1));
  sightings.take(without);
  CHECK(sightings.of_port(kVf1));
}

TEST_CASE_FIXTURE(Seen, "beyond 200,000 GUIDs those that are not there now are forgotten") {
  std::vector<ib::Guid> many;
  for (uint64_t n = 0; n <= 200'000; ++n) many.emplace_back(0x1000 + n);
  sightings.take(topology(many));
  CHECK(sightings.has_met(many.back()));
  sightings.take(topology({kVf1}));
  CHECK(sightings.has_met(kVf1));
  CHECK_FALSE(sightings.has_met(many.back()));
}

TEST_CASE("the subnet manager's port is the configured one, or else the first master's") {
  Sightings unknown({});
  CHECK_FALSE(unknown.sm_port());
  CHECK(unknown.of_own_subnet());
  unknown.take(with_masters({kOtherSm, kSm}));
  CHECK(unknown.sm_port() == kOtherSm);
  CHECK(unknown.end_port(kOtherSm).runs_sm);
  CHECK_FALSE(unknown.end_port(kSm).runs_sm);
  unknown.take(with_masters({}));
  CHECK_FALSE(unknown.sm_port());
  Sightings known(kSm);
  CHECK_FALSE(known.of_own_subnet());
  known.take(with_masters({kOtherSm}));
  CHECK(known.of_own_subnet());
  CHECK(known.sm_port() == kSm);
  CHECK(known.end_port(kSm).runs_sm);
}

TEST_CASE("an end port has the type of its node; one that was not seen runs no subnet manager") {
  Sightings sightings(kSm);
  CHECK(sightings.end_port(kSm).guid == kSm);
  CHECK_FALSE(sightings.end_port(kSm).runs_sm);
  fabric::Topology::Contents contents = subnet({kSm});
  contents.ports[0].node = fabric::NodeType::switch_node;
  sightings.take(topology(std::move(contents)));
  CHECK(sightings.end_port(kSm).node == fabric::NodeType::switch_node);
  CHECK(sightings.end_port(kSm).runs_sm);
}

TEST_CASE_FIXTURE(Seen, "nothing follows without a reading, or from one of an older version") {
  CHECK(find(0).kind == Kind::nothing);
  CHECK(after(ib::PKeyTable{kBlue}).kind == Kind::good);
  CHECK(find(3).kind == Kind::nothing);
}

TEST_CASE_FIXTURE(Seen, "a table with the desired keys and no other is good") {
  const Finding good = after(ib::PKeyTable{kBlue});
  CHECK(good.kind == Kind::good);
  CHECK(good.proof == Proof::port);
  CHECK(good.version == 2);
  CHECK(good.standing.text.empty());
  CHECK_FALSE(good.drifted);
  CHECK_FALSE(good.leaf);
}

TEST_CASE_FIXTURE(Seen,
                  "a table with another key is wrong: an extra key goes before a missing one") {
  const Finding missing = after(ib::PKeyTable{});
  CHECK(missing.kind == Kind::wrong);
  CHECK(missing.proof == Proof::port);
  CHECK(missing.standing.reason == Reason::missing_key);
  CHECK(missing.standing.text == "its P_Key table lacks 0x8001");
  const Finding foreign = after(ib::PKeyTable{kRed});
  CHECK(foreign.standing.reason == Reason::foreign_key);
  CHECK(foreign.verdict.missing == std::vector{kBlue});
  CHECK(foreign.verdict.foreign == std::vector{kRed});
}

TEST_CASE_FIXTURE(Seen, "a wrong table has drifted if the version was swept before it was read") {
  sightings.take(reading(ib::PKeyTable{kRed}), 3, 2, at(1));
  CHECK(find(2).drifted);
  CHECK_FALSE(find(3).drifted);
  sightings.take(reading(ib::PKeyTable{kBlue}), 3, 2, at(2));
  CHECK_FALSE(find(2).drifted);
}

TEST_CASE_FIXTURE(Seen, "the switch enforces if it holds the desired keys and filters both ways") {
  const ib::PKeyTable table{kBlue};
  CHECK(after(table).enforcement == Enforcement::unknown);
  CHECK(after(table, leaf(table)).enforcement == Enforcement::leaf);
  CHECK(after(table, LeafReading{NotRead{Unread::timeout}, true, true}).enforcement ==
        Enforcement::unknown);
  CHECK(after(table, LeafReading{ib::PKeyTable{}, true, true}).enforcement == Enforcement::hca);
  CHECK(after(table, LeafReading{table, false, true}).enforcement == Enforcement::hca);
  CHECK(after(table, LeafReading{table, true, false}).enforcement == Enforcement::hca);
  // At which index the switch holds a key does not matter.
  sightings.take(reading(table, leaf({kRed, kBlue})), 2, 1, at(++ms));
  CHECK(find(2).enforcement == Enforcement::hca);
  sightings.take(reading(table, leaf({{}, kBlue})), 2, 1, at(++ms));
  CHECK(find(2, blue(true)).enforcement == Enforcement::leaf);
}

TEST_CASE_FIXTURE(Seen, "a wrong table of an enforcing switch port makes a good port wrong") {
  const ib::PKeyTable table{kBlue};
  const Finding foreign = after(table, leaf({kBlue, kRed}));
  CHECK(foreign.kind == Kind::wrong);
  CHECK(foreign.leaf);
  CHECK(foreign.verdict.foreign == std::vector{kRed});
  CHECK(foreign.standing.reason == Reason::foreign_key);
  CHECK(foreign.standing.text.starts_with("the P_Key table of its switch port holds 0x8002"));
  CHECK(after(table, leaf({ib::PKey()})).standing.reason == Reason::missing_key);
  CHECK(after(table, leaf(table)).kind == Kind::good);
  CHECK(after(table, LeafReading{ib::PKeyTable{kRed}, true, false}).kind == Kind::good);
  sightings.take(reading(table, leaf({kRed})), 2, 2, at(++ms));
  CHECK(find(2).drifted);
  const Finding both = after(ib::PKeyTable{}, leaf({kRed}));
  CHECK_MESSAGE(!both.leaf, "the port's own table is reported first");
  CHECK(both.standing.reason == Reason::missing_key);
}

TEST_CASE_FIXTURE(Seen, "a port that cannot be read is unseen, for the reason of the reading") {
  const std::pair<Unread, Reason> rows[] = {
      {Unread::unreachable, Reason::unreachable}, {Unread::timeout, Reason::timeout},
      {Unread::refused, Reason::refused},         {Unread::not_permitted, Reason::refused},
      {Unread::malformed, Reason::refused},       {Unread::port_unknown, Reason::port_unknown},
      {Unread::other_port, Reason::port_unknown}, {Unread::doubtful, Reason::duplicate},
  };
  for (const auto& [why, reason] : rows) {
    CAPTURE(name(why));
    const Finding unseen = after(NotRead{why});
    CHECK(unseen.kind == Kind::unseen);
    CHECK(unseen.proof == Proof::none);
    CHECK(unseen.standing.reason == reason);
    CHECK_FALSE(unseen.standing.text.empty());
  }
  for (const Unread why : {Unread::deadline, Unread::cancelled, Unread::changed})
    CHECK(after(NotRead{why}).kind == Kind::nothing);
}

TEST_CASE_FIXTURE(Seen, "a node's report counts where the port cannot be read, and not else") {
  REQUIRE(sightings.take("n1", kVf1, told({kBlue}, 2), kMost));
  CHECK_MESSAGE(find(2).kind == Kind::nothing, "the port has to be asked first");
  CHECK(after(ib::PKeyTable{kRed}).kind == Kind::wrong);
  const Finding good = after(NotRead{Unread::timeout});
  CHECK(good.kind == Kind::good);
  CHECK(good.proof == Proof::node);
  CHECK(good.enforcement == Enforcement::unknown);
  CHECK(good.version == 2);
  CHECK_MESSAGE(find(3).kind == Kind::unseen, "the node has read before version 3");
}

TEST_CASE_FIXTURE(Seen, "a node's report of a wrong table is compared as a reading is") {
  REQUIRE(sightings.take("n1", kVf1, told({kRed}, 2, 1), kMost));
  const Finding wrong = after(NotRead{Unread::timeout});
  CHECK(wrong.kind == Kind::wrong);
  CHECK(wrong.standing.reason == Reason::foreign_key);
  CHECK_FALSE(wrong.drifted);
  CHECK(find(1).drifted);
  REQUIRE(sightings.take("n1", kVf1, told({kBlue}, 2, 1), kMost));
  CHECK_FALSE(find(1).drifted);
}

TEST_CASE_FIXTURE(Seen, "of a GUID that two ports have no node's report counts") {
  REQUIRE(sightings.take("n1", kVf1, told({kBlue}, 2), kMost));
  const Finding twice = after(NotRead{Unread::doubtful});
  CHECK(twice.kind == Kind::unseen);
  CHECK(twice.standing.reason == Reason::duplicate);
}

TEST_CASE_FIXTURE(Seen, "node reports: kept by port and bounded by node") {
  CHECK(sightings.of_node(kVf1) == nullptr);
  CHECK(sightings.take("n1", kVf1, told({kBlue, kRed}), 2));
  CHECK(sightings.take("n1", kVf2, told({kBlue}), 2).error().code() == Code::busy);
  CHECK(sightings.take("n2", kVf2, told({kBlue}), 2));
  REQUIRE(sightings.of_node(kVf1));
  CHECK(sightings.of_node(kVf1)->table == ib::PKeyTable{kBlue, kRed});
  CHECK(sightings.nodes().all().size() == 2);
}

TEST_CASE_FIXTURE(Seen, "node reports are forgotten by port, and by age") {
  REQUIRE(sightings.take("n1", kVf1, told({kBlue}, 1, 0, 10), kMost));
  REQUIRE(sightings.take("n1", kVf2, told({kBlue}, 1, 0, 20), kMost));
  sightings.forget_nodes(at(10));
  CHECK(sightings.of_node(kVf1));
  sightings.forget_nodes(at(11));
  CHECK(sightings.of_node(kVf1) == nullptr);
  CHECK(sightings.of_node(kVf2));
  sightings.forget_node(kVf2);
  CHECK(sightings.of_node(kVf2) == nullptr);
}

}  // namespace
}  // namespace ibpod::sm
