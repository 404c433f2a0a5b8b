// Verified ports, and the meaning of a port's absence.
#include "sm/verify/port_verifier.h"

#include "sm/verify/port_counts.h"
#include "sm/verify/presence.h"
#include "sm/verify/test_port_requests.h"

#include <doctest/doctest.h>

namespace ibpod::sm::verify {
namespace {

using fabric::Proof;
using fabric::Reason;
using Kind = PortVerdict::Kind;

constexpr ib::Guid kVf{0x11}, kOther{0x12}, kPf{0x10}, kSm{0x01};
constexpr ib::PKey kBlue{0x8001}, kForeign{0x8009};

// The VF kVf of the PF kPf is a full member of blue, 0x8001, since version 1.
struct Subnet {
  Subnet() {
    requests.binding.pf_guid = kPf;
    requests.binding.state = fabric::BindingState::written;
    fabric::PartitionDefinition blue;
    blue.name = "blue";
    blue.pkey = ib::PKey(1);
    blue.members = {{kVf, fabric::Membership::full}};
    verifier.set_desired(DesiredKeys({blue}), {});
    status.health = engine::Health::serving;
    for (const ib::Guid guid : {kSm, kPf, kVf}) ports[guid].guid = guid;
  }
  VersionHistory::Time now() const { return VersionHistory::Time(std::chrono::seconds(seconds)); }

  EngineProgress::Change sweep(uint64_t version = 1) {
    ++seconds;
    status.placed = status.swept = version;
    return verifier.engine_changed(status, capabilities, now());
  }
  // A full scan that reads all present ports.
  PortVerdicts scan() {
    ++seconds;
    probe::ProbeBatch batch;
    batch.begun = now();
    fabric::Topology::Contents contents;
    for (const auto& [guid, port] : ports) contents.ports.push_back(port);
    contents.unanswered_count = is_complete ? 0 : 1;
    batch.topology = std::make_shared<fabric::Topology>(std::move(contents));
    batch.full_scan = true;
    if (ports.contains(kVf)) batch.ports.push_back({.port = kVf, .table = table});
    ++seconds;
    verifier.record(batch, now());
    return verifier.verdicts_of(batch, now());
  }
  PortVerdicts scan_swept() {
    sweep();
    return scan();
  }
  PortCounts counts() const {
    return count_ports(verifier.observations(), requests, verifier.desired());
  }
  void remove_vf() { ports.erase(kVf); }

  int seconds = 1000;
  FakePortRequests requests{kVf};
  PortVerifier verifier{{.epoch = "e", .own_port = kSm}, requests};
  engine::EngineStatus status;
  engine::Capabilities capabilities{.writes = true, .repairs_tables = true};
  bool is_complete = true;
  std::map<ib::Guid, fabric::Port> ports;
  ib::PKeyTable table{ib::kDefaultFull, kBlue, ib::PKey(), ib::PKey()};
};

std::vector<Kind> kinds(const PortVerdicts& verdicts) {
  std::vector<Kind> all;
  for (const PortVerdict& verdict : verdicts) all.push_back(verdict.kind);
  return all;
}

TEST_CASE_FIXTURE(Subnet, "a port is verified by its own table, of the version that was in place") {
  table = {kBlue, ib::PKey()};
  const PortVerdicts verdicts = scan_swept();
  REQUIRE(kinds(verdicts) == std::vector{Kind::verified});
  CHECK(verdicts[0].port == kVf);
  CHECK(verdicts[0].version == 1);
  CHECK(verdicts[0].proof == Proof::port);
  CHECK(counts() == PortCounts{.ports = 3});
}

TEST_CASE_FIXTURE(Subnet, "tables prove nothing before the first sweep") {
  table = {kBlue};
  CHECK(scan().empty());
  table = {};
  remove_vf();
  CHECK(scan().empty());
}

TEST_CASE_FIXTURE(Subnet, "a table that was read before the keys changed proves nothing") {
  table = {kBlue};
  sweep();
  requests.version = 2;
  CHECK(scan().empty());
  CHECK(kinds(scan_swept()).empty());
  sweep(2);
  CHECK(kinds(scan()) == std::vector{Kind::verified});
}

TEST_CASE_FIXTURE(Subnet, "while a sweep may still write it, a wrong table is no verdict") {
  table = {ib::PKey(), ib::PKey()};
  sweep();
  requests.version = 2;
  status.placed = 2;
  verifier.engine_changed(status, capabilities, now());
  CHECK(scan().empty());
  sweep(2);
  CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::drifted});
}

TEST_CASE_FIXTURE(Subnet, "a wrong table is reported once and repaired") {
  table = {kBlue, kForeign};
  const PortVerdicts verdicts = scan_swept();
  REQUIRE(kinds(verdicts) == std::vector{Kind::condition, Kind::drifted});
  CHECK(verdicts[0].condition.reason == Reason::foreign_key);
  const std::vector<probe::Repair> repairs = verifier.take_repairs();
  REQUIRE(repairs.size() == 1);
  CHECK(repairs[0].port == kVf);
  CHECK(repairs[0].kind == probe::Repair::Kind::revoke);
  CHECK(repairs[0].expected == mad::block_of(table, 0));
  CHECK(repairs[0].keys == mad::block_of({kBlue, ib::PKey()}, 0));
  CHECK(verifier.unsettled() == std::set{kVf});
  CHECK_MESSAGE(scan().empty(), "its repair is under way");
  CHECK(counts() == PortCounts{.ports = 3, .foreign = 1});
}

TEST_CASE_FIXTURE(Subnet, "after its repair, a right table settles the port") {
  table = {ib::PKey(), ib::PKey()};
  scan_swept();
  CHECK(counts() == PortCounts{.ports = 3, .missing = 1});
  const std::vector<probe::Repair> repairs = verifier.take_repairs();
  REQUIRE(repairs.size() == 1);
  CHECK(repairs[0].kind == probe::Repair::Kind::bind);
  probe::ProbeBatch batch;
  batch.begun = now();
  batch.ports = {{.port = kVf, .table = ib::PKeyTable{kBlue, ib::PKey()}, .after_repair = true}};
  verifier.record(batch, now());
  CHECK(kinds(verifier.verdicts_of(batch, now())) == std::vector{Kind::verified});
  CHECK(verifier.unsettled().empty());
}

TEST_CASE_FIXTURE(Subnet, "tables that are not ours to write are not repaired") {
  table = {kBlue, kForeign};
  SUBCASE("of another subnet manager") { capabilities = {}; }
  SUBCASE("if only the subnet manager may write") { capabilities.repairs_tables = false; }
  SUBCASE("while ours is not master") { status.health = engine::Health::not_master; }
  SUBCASE("while ours has thrown the file away") { status.health = engine::Health::failed_open; }
  CHECK(kinds(scan_swept()) == std::vector{Kind::condition});
  CHECK(verifier.take_repairs().empty());
}

TEST_CASE_FIXTURE(Subnet, "without a subnet manager, tables are still repaired") {
  table = {kBlue, kForeign};
  status.health = engine::Health::gone;
  scan_swept();
  CHECK(verifier.take_repairs().size() == 1);
}

TEST_CASE_FIXTURE(Subnet,
                  "the adapter's initial table in state INIT is repaired, and is no drift") {
  table = {ib::kDefaultFull, ib::PKey()};
  ports[kVf].state = ib::PortState::init;
  CHECK(kinds(scan_swept()) == std::vector{Kind::condition});
  CHECK(verifier.take_repairs().size() == 1);
}

TEST_CASE_FIXTURE(Subnet, "a table without a free entry is a lack of capacity") {
  fabric::PartitionDefinition red;
  red.name = "red";
  red.pkey = ib::PKey(2);
  red.members = {{kVf, fabric::Membership::full}};
  fabric::PartitionDefinition blue = red;
  blue.pkey = ib::PKey(1);
  verifier.set_desired(DesiredKeys({blue, red}), {});
  table = {kBlue};
  const PortVerdicts verdicts = scan_swept();
  REQUIRE(kinds(verdicts) == std::vector{Kind::condition, Kind::condition});
  CHECK(verdicts[0].condition.reason == Reason::missing_key);
  CHECK(verdicts[1].condition.reason == Reason::capacity);
  CHECK(verifier.take_repairs().empty());
}

TEST_CASE_FIXTURE(Subnet, "a subnet without our subnet manager's port is another one") {
  table = {kBlue};
  ports.erase(kSm);
  const PortVerdicts verdicts = scan_swept();
  REQUIRE(kinds(verdicts) == std::vector{Kind::condition});
  CHECK(verdicts[0].condition.reason == Reason::unreachable);
  CHECK(verdicts[0].condition.text == wrong_subnet(verifier.observations()));
  CHECK(wrong_subnet(verifier.observations()).find(kSm.text()) != std::string::npos);
  is_complete = false;
  CHECK_MESSAGE(kinds(scan()) == std::vector{Kind::verified}, "an incomplete scan may lack it");
  CHECK(wrong_subnet(verifier.observations()).empty());
}

// --- the subnet manager

TEST_CASE_FIXTURE(Subnet, "what the subnet manager reports decides which readings count") {
  table = {kBlue};
  CHECK(sweep().first_sweep);
  const EngineProgress::Change second = sweep(2);
  CHECK(second.has_swept);
  CHECK_FALSE(second.first_sweep);
  CHECK_FALSE(second.tables_lost);
  CHECK(kinds(scan()) == std::vector{Kind::verified});
  SUBCASE("other partitions were in force") {
    ++status.violations;
    CHECK(sweep(2).tables_lost);
    CHECK_FALSE(sweep(2).tables_lost);
  }
  SUBCASE("an edit by hand was taken over") {
    ++status.edits;
    CHECK_FALSE(sweep(2).tables_lost);
  }
  SUBCASE("it went back to an older version") {
    status.placed = status.swept = 0;
    ++seconds;
    CHECK_FALSE(verifier.engine_changed(status, capabilities, now()).has_swept);
    CHECK(verifier.engine().applied() == 0);
    CHECK(verifier.engine().swept() == 0);
    CHECK(scan().empty());
    CHECK(sweep(2).first_sweep);
  }
  CHECK(kinds(scan()) == std::vector{Kind::verified});
}

TEST_CASE_FIXTURE(Subnet, "a node's report with the stamp of a lost generation proves nothing") {
  table = {kBlue};
  remove_vf();
  scan_swept();
  const auto report = [&](const std::string& stamp) {
    const auto verdicts = verifier.record_report("n1", kVf, {kBlue}, stamp, 100, now());
    REQUIRE(verdicts);
    return kinds(*verdicts).front();
  };
  const std::string stamp = verifier.engine().stamp();
  CHECK(report("") == Kind::condition);
  CHECK(report(stamp) == Kind::verified);
  ++status.violations;
  sweep();
  scan();
  CHECK(report(stamp) == Kind::condition);
  CHECK(report(verifier.engine().stamp()) == Kind::verified);
  verifier.forget_report(kVf);
  CHECK(kinds(scan()).front() == Kind::condition);
}

TEST_CASE_FIXTURE(Subnet, "the entries that a node reports are limited") {
  scan_swept();
  const auto too_many = verifier.record_report("n1", kVf, {kBlue, kBlue}, "", 1, now());
  REQUIRE_FALSE(too_many);
  CHECK(too_many.error().code() == Code::busy);
}

// --- an engine that does not see the sweeps, and faults of single ports

TEST_CASE_FIXTURE(Subnet,
                  "if sweeps are not seen, keys count as present at once, and as removed "
                  "after a sweep") {
  capabilities.follows_sweeps = false;
  table = {kBlue};
  CHECK(scan().empty());
  status.placed = 1;
  verifier.engine_changed(status, capabilities, now());
  PortVerdicts verdicts = scan();
  REQUIRE(kinds(verdicts) == std::vector{Kind::present});
  CHECK(verdicts[0].version == 1);
  CHECK(verdicts[0].proof == Proof::port);
  CHECK(kinds(scan_swept()) == std::vector{Kind::verified});
  // A version later, the port may still be written by a sweep that has read the first one.
  requests.version = status.placed = 2;
  verifier.engine_changed(status, capabilities, now());
  CHECK(kinds(scan()) == std::vector{Kind::present});
  table = {kBlue, kForeign};
  CHECK_MESSAGE(scan().empty(), "a running sweep may remove it");
  sweep(2);
  CHECK(kinds(scan()).front() == Kind::condition);
  table = {kBlue};
  CHECK(kinds(scan()) == std::vector{Kind::verified});
}

TEST_CASE_FIXTURE(Subnet, "the fault of a port is the cause that its condition names first") {
  using PortFault = engine::PortFault;
  table = {ib::PKey()};
  sweep();
  PortVerdicts verdicts = verifier.set_port_faults({{kVf, PortFault::Kind::not_added, "refused"}});
  REQUIRE(kinds(verdicts) == std::vector{Kind::condition});
  CHECK(verdicts[0].port == kVf);
  CHECK(verdicts[0].condition == fabric::Condition{Reason::misconfigured, "refused"});
  CHECK(verifier.set_port_faults({{kVf, PortFault::Kind::not_added, "refused"}}).empty());
  verdicts = scan();
  REQUIRE(kinds(verdicts).front() == Kind::condition);
  CHECK(verdicts[0].condition.reason == Reason::missing_key);
  CHECK(verdicts[0].condition.text == "refused; its P_Key table lacks 0x8001");
  table = {kBlue};
  CHECK(kinds(scan()) == std::vector{Kind::verified});
  verdicts = verifier.set_port_faults({});
  REQUIRE(kinds(verdicts) == std::vector{Kind::condition});
  CHECK(verdicts[0].condition == fabric::Condition{Reason::waiting, ""});
}

TEST_CASE_FIXTURE(Subnet, "in a partition that is not in place at all no port is verified") {
  const fabric::Condition taken{Reason::foreign_key, "another client has it"};
  table = {kBlue};
  CHECK(kinds(scan_swept()) == std::vector{Kind::verified});
  PortVerdicts verdicts = verifier.set_partition_faults({{ib::PKey(1), taken.text}}, now());
  REQUIRE(kinds(verdicts) == std::vector{Kind::clean, Kind::condition});
  CHECK(verdicts[1].port == kVf);
  CHECK(verdicts[1].condition == taken);
  CHECK(verifier.set_partition_faults({{ib::PKey(1), taken.text}}, now()).empty());
  CHECK(scan().back().condition == taken);
  verifier.set_port_faults({{kVf, engine::PortFault::Kind::not_added, taken.text}});
  CHECK_MESSAGE(scan().back().condition == taken, "it is said once");
  // Without the key the table is wrong, as without the fault.
  table = {ib::PKey()};
  CHECK(scan().front().condition.reason == Reason::missing_key);
  table = {kBlue};
  SUBCASE("a key that may come back is not gone") {
    capabilities.follows_sweeps = false;
    requests.version = 2;
    status.placed = 2;
    ++seconds;
    verifier.engine_changed(status, capabilities, now());
    verdicts = scan();
    REQUIRE(kinds(verdicts) == std::vector{Kind::condition});
    CHECK(verdicts[0].condition == taken);
  }
  SUBCASE("the fault of a partition that the port is not in") {
    CHECK(verifier.set_partition_faults({{ib::PKey(2), taken.text}}, now()).empty());
    CHECK(kinds(scan()) == std::vector{Kind::verified});
  }
  SUBCASE("its end") {
    CHECK(verifier.set_partition_faults({}, now()).empty());
    CHECK(kinds(scan()) == std::vector{Kind::verified});
  }
}

TEST_CASE_FIXTURE(Subnet, "a port that still has to lose a membership is never clean") {
  using PortFault = engine::PortFault;
  const std::vector<PortFault> faults{{kVf, PortFault::Kind::not_removed, "ignored"}};
  sweep();
  requests.binding.state = fabric::BindingState::releasing;
  SUBCASE("its table is right") {
    table = {kBlue};
    verifier.set_port_faults(faults);
    CHECK(kinds(scan()) == std::vector{Kind::present});
    verifier.set_port_faults({});
    CHECK(kinds(scan()) == std::vector{Kind::verified});
  }
  SUBCASE("its node is being forgotten") {
    remove_vf();
    requests.forgetting = true;
    verifier.set_port_faults(faults);
    CHECK(kinds(scan()) == std::vector{Kind::condition});
    verifier.set_port_faults({});
    CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::clean});
  }
  SUBCASE("no scan has found it") {
    remove_vf();
    verifier.set_port_faults(faults);
    CHECK(kinds(scan()) == std::vector{Kind::condition});
    verifier.set_port_faults({});
    CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::absent});
  }
  SUBCASE("its partitions need no proof") {
    remove_vf();
    requests.no_proof = true;
    verifier.set_port_faults(faults);
    CHECK(kinds(scan()) == std::vector{Kind::condition});
    verifier.set_port_faults({{kVf, PortFault::Kind::not_added, "refused"}});
    CHECK(kinds(scan()) == std::vector{Kind::condition});
    verifier.set_port_faults({});
    CHECK(kinds(scan()) == std::vector{Kind::verified});
  }
}

// --- absent ports

TEST_CASE_FIXTURE(Subnet, "of an absent port nothing is proved but by one of these rules") {
  sweep();
  remove_vf();
  requests.binding.state = fabric::BindingState::releasing;
  SUBCASE("a scan has found it before: its link or its node is down") {
    ports[kVf].guid = kVf;
    scan();
    remove_vf();
    const PortVerdicts verdicts = scan();
    REQUIRE(verdicts.size() == 2);
    CHECK(verdicts[0].condition.reason == Reason::port_down);
    CHECK(verdicts[1].kind == Kind::absent);
  }
  SUBCASE("the scan is incomplete") {
    is_complete = false;
    requests.forgetting = requests.no_proof = requests.binding.guid_requested = true;
    const PortVerdicts verdicts = scan();
    REQUIRE(kinds(verdicts) == std::vector{Kind::condition});
    CHECK(verdicts[0].condition.reason == Reason::timeout);
  }
  SUBCASE("no sweep since its keys changed") {
    requests.version = 2;
    requests.forgetting = requests.no_proof = requests.binding.guid_requested = true;
    CHECK(kinds(scan()) == std::vector{Kind::condition});
  }
  SUBCASE("its PF has virtual ports, which no scan finds") {
    ports[kPf].virtualized = true;
    requests.forgetting = requests.no_proof = requests.binding.guid_requested = true;
    const PortVerdicts verdicts = scan();
    REQUIRE(kinds(verdicts) == std::vector{Kind::condition});
    CHECK(verdicts[0].condition.reason == Reason::vport);
    CHECK(verdicts[0].condition.text.find("does not serve virtual ports") != std::string::npos);
  }
  SUBCASE("proof: none") {
    requests.no_proof = true;
    const PortVerdicts verdicts = scan();
    REQUIRE(kinds(verdicts) == std::vector{Kind::verified});
    CHECK(verdicts[0].proof == Proof::none);
  }
  SUBCASE("its node is being forgotten") {
    requests.forgetting = true;
    const PortVerdicts verdicts = scan();
    REQUIRE(kinds(verdicts) == std::vector{Kind::condition, Kind::clean});
    CHECK(verdicts[1].proof == Proof::port);
  }
  SUBCASE("another subnet manager writes the tables") {
    capabilities = {};
    sweep();
    CHECK(kinds(scan()) == std::vector{Kind::condition});
  }
}

TEST_CASE_FIXTURE(Subnet, "a GUID that a pod has requested is free when the pod and the port are") {
  sweep();
  remove_vf();
  requests.binding.state = fabric::BindingState::releasing;
  SUBCASE("the pod is gone") {
    requests.binding.guid_requested = true;
    CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::clean});
  }
  SUBCASE("the pod still runs") {
    requests.binding.guid_requested = true;
    requests.binding.state = fabric::BindingState::written;
    CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::absent});
  }
  SUBCASE("the node still reports a table of it") {
    requests.binding.guid_requested = requests.no_proof = true;
    REQUIRE(verifier.record_report("n1", kVf, {kForeign}, "", 100, now()));
    CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::absent});
    CHECK(may_be_present(verifier.observations(), kVf));
  }
}

TEST_CASE_FIXTURE(Subnet, "a virtual port ends with its node only if its PF is absent, too") {
  sweep();
  remove_vf();
  requests.forgetting = true;
  ports[kPf].virtualized = true;
  CHECK(kinds(scan()) == std::vector{Kind::condition});
  ports.erase(kPf);
  CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::clean});
  requests.binding.pf_guid = {};
  CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::clean});
  ports[kOther].guid = kOther;
  ports[kOther].virtualized = true;
  CHECK_MESSAGE(kinds(scan()) == std::vector{Kind::condition}, "its PF may be that one");
  requests.binding.kind = fabric::Kind::child;
  CHECK(kinds(scan()) == std::vector{Kind::condition, Kind::clean});
}

TEST_CASE_FIXTURE(Subnet, "reports of nodes end with their time") {
  remove_vf();
  scan_swept();
  REQUIRE(verifier.record_report("n1", kVf, {kBlue}, verifier.engine().stamp(), 100, now()));
  CHECK(kinds(scan()) == std::vector{Kind::verified});
  seconds += 181;
  scan();
  CHECK(kinds(scan()).front() == Kind::condition);
}

}  // namespace
}  // namespace ibpod::sm::verify
