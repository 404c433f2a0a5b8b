// The last observation of each port: its source, its time, and its meaning.
#include "sm/verify/port_observations.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using fabric::Enforcement;
using fabric::Proof;
using fabric::Reason;
using Kind = TableFinding::Kind;

constexpr ib::Guid kVf1{0x11}, kVf2{0x12}, kSm{0x01}, kOtherSm{0x02};
constexpr ib::PKey kBlue{0x8001}, kRed{0x8002};
constexpr size_t kMost = 100;

VersionHistory::Time at(int ms) { return VersionHistory::Time(std::chrono::milliseconds(ms)); }

// The partition blue, which has kVf1 as full member.
DesiredKeys blue(bool index0 = false) {
  fabric::PartitionDefinition blue;
  blue.name = "blue";
  blue.pkey = ib::PKey(1);
  blue.index0 = index0;
  blue.members = {{kVf1, fabric::Membership::full}};
  return DesiredKeys({blue});
}

probe::ProbeResult reading(const probe::TableOrError& table,
                           std::optional<probe::SwitchPortResult> leaf = {}) {
  return {.port = kVf1, .table = table, .switch_port = std::move(leaf)};
}
probe::SwitchPortResult leaf(const ib::PKeyTable& table) {
  return {.table = table, .inbound = true, .outbound = true};
}
NodeObservation told(const ib::PKeyTable& table, uint64_t placed = 1, uint64_t swept = 0,
                     int ms = 0) {
  return {.table = table, .applied = placed, .swept = swept, .at = at(ms)};
}

fabric::Topology::Contents subnet(const std::vector<ib::Guid>& ports) {
  fabric::Topology::Contents contents;
  for (const ib::Guid guid : ports) {
    fabric::Port seen;
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
  explicit Seen(std::optional<ib::Guid> own_port = {}) : observations(own_port) {}

  // A reading of kVf1 in version 2, after the sweep of version 1.
  TableFinding after(const probe::TableOrError& table,
                     const std::optional<probe::SwitchPortResult>& leaf = {}) {
    observations.record(reading(table, leaf), {2, 1}, at(++ms));
    return find(2);
  }
  TableFinding find(uint64_t changed_in, const DesiredKeys& desired = blue()) const {
    return observations.finding(kVf1, changed_in, desired);
  }

  PortObservations observations;
  int ms = 0;
};

TEST_CASE_FIXTURE(Seen, "the last reading of a port is kept, and an older one changes nothing") {
  CHECK(observations.find_port(kVf1) == nullptr);
  CHECK(observations.ports().empty());
  observations.record(reading(ib::PKeyTable{kBlue}), {5, 4}, at(20));
  observations.record(reading(ib::PKeyTable{kRed}), {3, 2}, at(10));
  REQUIRE(observations.find_port(kVf1));
  CHECK(observations.find_port(kVf1)->result == reading(ib::PKeyTable{kBlue}));
  CHECK(observations.find_port(kVf1)->applied == 5);
  CHECK(observations.find_port(kVf1)->swept == 4);
  CHECK(observations.find_port(kVf1)->at == at(20));
  observations.record(reading(ib::PKeyTable{kRed}), {6, 5}, at(20));
  CHECK(observations.find_port(kVf1)->applied == 6);
  CHECK(observations.ports().size() == 1);
  CHECK(observations.find_port(kVf2) == nullptr);
}

TEST_CASE_FIXTURE(Seen, "a port that has left a whole subnet was seen once, and is not read") {
  CHECK_FALSE(observations.ever_seen(kVf1));
  CHECK_FALSE(observations.has_disappeared(kVf1));
  const auto both = topology({kVf1, kVf2});
  observations.record(both);
  CHECK(&observations.topology() == both.get());
  CHECK(observations.ever_seen(kVf1));
  CHECK_FALSE(observations.has_disappeared(kVf1));
  observations.record(reading(ib::PKeyTable{kBlue}), {1, 1}, at(1));
  observations.record(topology({kVf2}));
  CHECK(observations.ever_seen(kVf1));
  CHECK(observations.has_disappeared(kVf1));
  CHECK_FALSE(observations.has_disappeared(kVf2));
  CHECK(observations.find_port(kVf1) == nullptr);
}

TEST_CASE_FIXTURE(Seen, "where not all of the subnet was seen, a reading is kept") {
  observations.record(topology({kVf1}));
  observations.record(reading(ib::PKeyTable{kBlue}), {1, 1}, at(1));
  fabric::Topology::Contents part = subnet({kVf2});
  part.unanswered_count = 1;
  observations.record(topology(std::move(part)));
  CHECK(observations.find_port(kVf1));
  CHECK(observations.has_disappeared(kVf1));
}

TEST_CASE_FIXTURE(Seen, "the same topology once more removes no reading that came after it") {
  const auto without = topology({kVf2});
  observations.record(without);
  observations.record(reading(ib::PKeyTable{kBlue}), {1, 1}, at(1));
  observations.record(without);
  CHECK(observations.find_port(kVf1));
}

TEST_CASE_FIXTURE(Seen, "beyond 200,000 GUIDs those that are not there now are forgotten") {
  std::vector<ib::Guid> many;
  for (uint64_t n = 0; n <= 200'000; ++n) many.emplace_back(0x1000 + n);
  observations.record(topology(many));
  CHECK(observations.ever_seen(many.back()));
  observations.record(topology({kVf1}));
  CHECK(observations.ever_seen(kVf1));
  CHECK_FALSE(observations.ever_seen(many.back()));
}

TEST_CASE("the subnet manager's port is the configured one, or else the first master's") {
  PortObservations unknown({});
  CHECK_FALSE(unknown.sm_port());
  CHECK(unknown.of_own_subnet());
  unknown.record(with_masters({kOtherSm, kSm}));
  CHECK(unknown.sm_port() == kOtherSm);
  CHECK(unknown.end_port(kOtherSm).runs_sm);
  CHECK_FALSE(unknown.end_port(kSm).runs_sm);
  unknown.record(with_masters({}));
  CHECK_FALSE(unknown.sm_port());
  PortObservations known(kSm);
  CHECK_FALSE(known.of_own_subnet());
  known.record(with_masters({kOtherSm}));
  CHECK(known.of_own_subnet());
  CHECK(known.sm_port() == kSm);
  CHECK(known.end_port(kSm).runs_sm);
}

TEST_CASE("an end port has the type of its node; one that was not seen runs no subnet manager") {
  PortObservations observations(kSm);
  CHECK(observations.end_port(kSm).guid == kSm);
  CHECK_FALSE(observations.end_port(kSm).runs_sm);
  fabric::Topology::Contents contents = subnet({kSm});
  contents.ports[0].node = mad::NodeType::switch_node;
  observations.record(topology(std::move(contents)));
  CHECK(observations.end_port(kSm).node == mad::NodeType::switch_node);
  CHECK(observations.end_port(kSm).runs_sm);
}

TEST_CASE_FIXTURE(Seen, "nothing follows without a reading, or from one of an older version") {
  CHECK(find(0).kind == Kind::nothing);
  CHECK(after(ib::PKeyTable{kBlue}).kind == Kind::good);
  CHECK(find(3).kind == Kind::nothing);
}

TEST_CASE_FIXTURE(Seen, "a table with the desired keys and no other is good") {
  const TableFinding good = after(ib::PKeyTable{kBlue});
  CHECK(good.kind == Kind::good);
  CHECK(good.proof == Proof::port);
  CHECK(good.version == 2);
  CHECK(good.condition.text.empty());
  CHECK_FALSE(good.drifted);
  CHECK_FALSE(good.switch_port);
}

TEST_CASE_FIXTURE(Seen,
                  "a table with another key is wrong: an extra key goes before a missing one") {
  const TableFinding missing = after(ib::PKeyTable{});
  CHECK(missing.kind == Kind::wrong);
  CHECK(missing.proof == Proof::port);
  CHECK(missing.condition.reason == Reason::missing_key);
  CHECK(missing.condition.text == "its P_Key table lacks 0x8001");
  const TableFinding foreign = after(ib::PKeyTable{kRed});
  CHECK(foreign.condition.reason == Reason::foreign_key);
  CHECK(foreign.diff.missing == std::vector{kBlue});
  CHECK(foreign.diff.foreign == std::vector{kRed});
}

TEST_CASE_FIXTURE(Seen, "a wrong table has drifted if the version was swept before it was read") {
  observations.record(reading(ib::PKeyTable{kRed}), {3, 2}, at(1));
  CHECK(find(2).drifted);
  CHECK_FALSE(find(3).drifted);
  observations.record(reading(ib::PKeyTable{kBlue}), {3, 2}, at(2));
  CHECK_FALSE(find(2).drifted);
}

TEST_CASE_FIXTURE(Seen, "the switch enforces if it holds the desired keys and filters both ways") {
  const ib::PKeyTable table{kBlue};
  CHECK(after(table).enforcement == Enforcement::unknown);
  CHECK(after(table, leaf(table)).enforcement == Enforcement::leaf);
  CHECK(after(table,
              probe::SwitchPortResult{probe::ProbeError{probe::ProbeFailure::timeout}, true, true})
            .enforcement == Enforcement::unknown);
  CHECK(after(table, probe::SwitchPortResult{ib::PKeyTable{}, true, true}).enforcement ==
        Enforcement::hca);
  CHECK(after(table, probe::SwitchPortResult{table, false, true}).enforcement == Enforcement::hca);
  CHECK(after(table, probe::SwitchPortResult{table, true, false}).enforcement == Enforcement::hca);
  // The index of a key in the switch's table does not matter.
  observations.record(reading(table, leaf({kRed, kBlue})), {2, 1}, at(++ms));
  CHECK(find(2).enforcement == Enforcement::hca);
  observations.record(reading(table, leaf({{}, kBlue})), {2, 1}, at(++ms));
  CHECK(find(2, blue(true)).enforcement == Enforcement::leaf);
}

TEST_CASE_FIXTURE(Seen, "a wrong table of an enforcing switch port makes a good port wrong") {
  const ib::PKeyTable table{kBlue};
  const TableFinding foreign = after(table, leaf({kBlue, kRed}));
  CHECK(foreign.kind == Kind::wrong);
  CHECK(foreign.switch_port);
  CHECK(foreign.diff.foreign == std::vector{kRed});
  CHECK(foreign.condition.reason == Reason::foreign_key);
  CHECK(foreign.condition.text.starts_with("the P_Key table of its switch port holds 0x8002"));
  CHECK(after(table, leaf({ib::PKey()})).condition.reason == Reason::missing_key);
  CHECK(after(table, leaf(table)).kind == Kind::good);
  CHECK(after(table, probe::SwitchPortResult{ib::PKeyTable{kRed}, true, false}).kind == Kind::good);
  observations.record(reading(table, leaf({kRed})), {2, 2}, at(++ms));
  CHECK(find(2).drifted);
  const TableFinding both = after(ib::PKeyTable{}, leaf({kRed}));
  CHECK_MESSAGE(!both.switch_port, "the port's own table is reported first");
  CHECK(both.condition.reason == Reason::missing_key);
}

TEST_CASE_FIXTURE(Seen, "a port that cannot be read is unseen, for the reason of the reading") {
  const std::pair<probe::ProbeFailure, Reason> rows[] = {
      {probe::ProbeFailure::unreachable, Reason::unreachable},
      {probe::ProbeFailure::timeout, Reason::timeout},
      {probe::ProbeFailure::refused, Reason::refused},
      {probe::ProbeFailure::not_permitted, Reason::refused},
      {probe::ProbeFailure::malformed, Reason::refused},
      {probe::ProbeFailure::port_unknown, Reason::port_unknown},
      {probe::ProbeFailure::other_port, Reason::port_unknown},
      {probe::ProbeFailure::duplicate_guid, Reason::duplicate},
  };
  for (const auto& [why, reason] : rows) {
    CAPTURE(probe::name(why));
    const TableFinding unseen = after(probe::ProbeError{why});
    CHECK(unseen.kind == Kind::unseen);
    CHECK(unseen.proof == Proof::none);
    CHECK(unseen.condition.reason == reason);
    CHECK_FALSE(unseen.condition.text.empty());
  }
  for (const probe::ProbeFailure why :
       {probe::ProbeFailure::deadline, probe::ProbeFailure::cancelled,
        probe::ProbeFailure::changed})
    CHECK(after(probe::ProbeError{why}).kind == Kind::nothing);
}

TEST_CASE_FIXTURE(Seen, "a node's report counts where the port cannot be read, and not else") {
  REQUIRE(observations.record("n1", kVf1, told({kBlue}, 2), kMost));
  CHECK_MESSAGE(find(2).kind == Kind::nothing, "the port has to be asked first");
  CHECK(after(ib::PKeyTable{kRed}).kind == Kind::wrong);
  const TableFinding good = after(probe::ProbeError{probe::ProbeFailure::timeout});
  CHECK(good.kind == Kind::good);
  CHECK(good.proof == Proof::node);
  CHECK(good.enforcement == Enforcement::unknown);
  CHECK(good.version == 2);
  CHECK_MESSAGE(find(3).kind == Kind::unseen, "the node has read before version 3");
}

TEST_CASE_FIXTURE(Seen, "a node's report of a wrong table is compared as a reading is") {
  REQUIRE(observations.record("n1", kVf1, told({kRed}, 2, 1), kMost));
  const TableFinding wrong = after(probe::ProbeError{probe::ProbeFailure::timeout});
  CHECK(wrong.kind == Kind::wrong);
  CHECK(wrong.condition.reason == Reason::foreign_key);
  CHECK_FALSE(wrong.drifted);
  CHECK(find(1).drifted);
  REQUIRE(observations.record("n1", kVf1, told({kBlue}, 2, 1), kMost));
  CHECK_FALSE(find(1).drifted);
}

TEST_CASE_FIXTURE(Seen, "of a GUID that two ports have no node's report counts") {
  REQUIRE(observations.record("n1", kVf1, told({kBlue}, 2), kMost));
  const TableFinding twice = after(probe::ProbeError{probe::ProbeFailure::duplicate_guid});
  CHECK(twice.kind == Kind::unseen);
  CHECK(twice.condition.reason == Reason::duplicate);
}

TEST_CASE_FIXTURE(Seen, "node reports: kept by port and bounded by node") {
  CHECK(observations.find_node_report(kVf1) == nullptr);
  CHECK(observations.record("n1", kVf1, told({kBlue, kRed}), 2));
  CHECK(observations.record("n1", kVf2, told({kBlue}), 2).error().code() == Code::busy);
  CHECK(observations.record("n2", kVf2, told({kBlue}), 2));
  REQUIRE(observations.find_node_report(kVf1));
  CHECK(observations.find_node_report(kVf1)->table == ib::PKeyTable{kBlue, kRed});
  CHECK(observations.node_reports().all().size() == 2);
}

TEST_CASE_FIXTURE(Seen, "node reports are forgotten by port, and by age") {
  REQUIRE(observations.record("n1", kVf1, told({kBlue}, 1, 0, 10), kMost));
  REQUIRE(observations.record("n1", kVf2, told({kBlue}, 1, 0, 20), kMost));
  observations.forget_nodes(at(10));
  CHECK(observations.find_node_report(kVf1));
  observations.forget_nodes(at(11));
  CHECK(observations.find_node_report(kVf1) == nullptr);
  CHECK(observations.find_node_report(kVf2));
  observations.forget_node(kVf2);
  CHECK(observations.find_node_report(kVf2) == nullptr);
}

}  // namespace
}  // namespace ibpod::sm::verify
