// A subnet in memory behind the steward: ports with tables, a subnet manager that writes them when
// the test says so, a store that can fail.
#pragma once

#include "lib/fabric/test_partitions.h"
#include "sm/controller/controller.h"
#include "tests/support/fake_store.h"
#include "tests/support/temp_folder.h"

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::test {

// The subnet manager: what is wanted is placed when it is told to place, and written into the
// tables when it sweeps. It writes what differs from what it has written itself, as OpenSM does.
class ModelEngine final : public Engine {
 public:
  void want(uint64_t version, Partitions partitions) override {
    wanted_version = version;
    wanted = std::move(partitions);
  }
  Standing standing() const override { return now; }
  bool writes() const override { return writing; }
  Status check(const std::vector<fabric::Partition>& partitions) const override {
    std::set<uint16_t> pkeys;
    for (const fabric::Partition& partition : partitions)
      if (!pkeys.insert(partition.pkey.partition()).second)
        return Error(Code::exists, partition.pkey.text() + " is there twice");
    return refusal.empty() ? ok() : Status(Error(Code::invalid, refusal));
  }
  std::vector<fabric::Partition> administrators() const override { return others; }

  void place() {
    now.placed = wanted_version;
    placed = wanted;
    now.health = Health::serving;
  }

  // The file has been thrown away, and every port is open.
  void throw_away() {
    ++now.fail_opens;
    now.swept = 0;
    now.health = Health::failed_open;
  }

  Standing now;
  bool writing = true;
  std::string refusal;
  uint64_t wanted_version = 0;
  Partitions wanted, placed;
  std::vector<fabric::Partition> others;
};

struct ModelPort {
  ib::PKeyTable table = ib::PKeyTable(8);
  bool there = true;
  bool answers = true;
  bool virtualized = false;
  ib::PortState state = ib::PortState::active;
};

class ModelTables final : public Tables {
 public:
  void hurry(std::set<ib::Guid> ports) override { hurried = std::move(ports); }
  void repair(std::vector<Repair> wanted) override {
    for (Repair& one : wanted) repairs.push_back(one);
  }
  void swept() override { ++sweeps; }
  void look() override { ++looks; }

  std::set<ib::Guid> hurried;
  int sweeps = 0;
  int looks = 0;
  std::vector<Repair> repairs;
};

inline const fabricapi::Caller kAdministrator{fabricapi::Role::administrator, "", "admin"};
inline const fabricapi::Caller kNode1{fabricapi::Role::node, "n1", "system:node:n1"};
inline const fabricapi::Caller kNode2{fabricapi::Role::node, "n2", "system:node:n2"};
inline constexpr ib::Guid kSmPort{0x0002c90300000001}, kVf1{0x0002c90300000011},
    kVf2{0x0002c90300000012}, kVf3{0x0002c90300000021}, kPf{0x0002c90300000031},
    kChosen{0x0200000100000001};  // that any pod may choose

class Bed {
 public:
  Bed() {
    REQUIRE(log.open(folder.path() / "log"));
    restart();
  }

  // As if the process had been killed and started anew. Nobody who waited is told.
  void restart() {
    steward.reset();
    Policy given = policy();
    given.limits = limits;
    ledger = Ledger::load(store, std::move(given), now()).value();
    steward = std::make_unique<Steward>(
        Steward::World{*ledger, engine, tables, report, [this] { return now().steady + lag; }},
        StewardSettings{.epoch = "e" + std::to_string(++epoch),
                        .own_port = own_port,
                        .declares = declares,
                        .changes = changes},
        now());
    turn();
  }

  static Policy policy() {
    Policy policy;
    policy.pkeys =
        PKeyPool::make({{1, 0x0fff, Use::automatic}, {0x1000, 0x7ffe, Use::by_request}}).value();
    policy.guids = GuidPool::make({{kChosen, kChosen, {"*"}}}).value();
    policy.nodes["n1"].guids = {kVf1, kVf2};
    policy.nodes["n2"].guids = {kVf3};
    return policy;
  }

  Now now() const {
    return {Placements::Time(std::chrono::milliseconds(ms)),
            fabric::WallTime(std::chrono::milliseconds(ms))};
  }
  // One turn, some time later.
  void turn(int later = 1) {
    ms += later;
    steward->at(now());
    steward->turn();
  }
  void engine_says() {
    steward->at(now());
    steward->engine_changed();
    turn();
  }

  // The last line of the log with that message; empty: there is none.
  std::string logged(const std::string& message) const {
    std::istringstream lines(read_file(folder.path() / "log").value());
    std::string found;
    for (std::string line; std::getline(lines, line);)
      if (line.find("\"msg\":\"" + message + "\"") != line.npos) found = line;
    return found;
  }

  // The file is in place.
  void place() {
    engine.place();
    engine_says();
  }
  // The subnet manager writes the tables; the end of the sweep is another moment.
  void write_tables() {
    const Wanted wanted(*engine.placed);
    for (auto& [guid, port] : ports) {
      const WantedKeys keys = wanted.of({.guid = guid, .runs_sm = guid == kSmPort});
      if (port.there) port.table = mended(port.table, keys).value();
    }
  }
  void end_sweep() {
    engine.now.swept = engine.now.placed;
    ++engine.now.sweeps;
    engine_says();
  }
  void sweep() {
    place();
    write_tables();
    end_sweep();
  }

  // The witness reads the ports that the steward has in mind, or all.
  void read(bool all = false) {
    Readings readings{
        .begun = now().steady, .topology = topology(), .ports = {}, .scan = all, .whole = all};
    turn();
    for (const auto& [guid, port] : ports)
      if (all ? port.there : tables.hurried.contains(guid))
        readings.ports.push_back(reading(guid, port));
    for (const ib::Guid guid : tables.hurried)
      if (!ports.contains(guid)) readings.ports.push_back(reading(guid, {.there = false}));
    steward->at(now());
    steward->seen(readings);
    turn();
  }
  void settle() {
    sweep();
    read();
  }

  // Does the repairs that are asked for, which takes as many milliseconds.
  void mend(int takes = 0) {
    Readings readings{.begun = now().steady, .topology = topology(), .ports = {}};
    ms += takes;
    for (const Repair& repair : std::exchange(tables.repairs, {})) {
      readings.ports.push_back({.port = repair.port, .table = NotRead{Unread::cancelled}});
      readings.ports.back().of_repair = true;
      if (repair.table == Repair::Table::leaf) continue;
      ib::PKeyTable& table = ports[repair.port].table;
      CHECK(mad::block_of(table, repair.block) == repair.was);
      for (size_t place = 0; place < table.size(); ++place)
        if (place / mad::kBlockPlaces == repair.block)
          table[place] = repair.keys[place % mad::kBlockPlaces];
      readings.ports.back().table = table;
    }
    steward->at(now());
    steward->seen(readings);
    turn();
  }

  std::shared_ptr<const fabric::Topology> topology() const {
    fabric::Topology::Contents contents;
    for (const auto& [guid, port] : ports) {
      if (!port.there) continue;
      fabric::SeenPort seen;
      seen.guid = guid;
      seen.places = static_cast<uint16_t>(port.table.size());
      seen.state = port.state;
      seen.virtualized = port.virtualized;
      seen.lid = static_cast<ib::Lid>(guid.value() & 0xff);
      contents.ports.push_back(seen);
    }
    contents.managers.push_back(
        {kSmPort, mad::SmInfo{.guid = kSmPort, .state = mad::SmState::master}});
    return std::make_shared<fabric::Topology>(std::move(contents));
  }

  // What is asked, and what came of it: "verified", "denied" …; empty while nothing has.
  std::string bind(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                   int patience = 1000) {
    const size_t number = answers.size();
    answers.emplace_back();
    steward->at(now());
    steward->bind(caller, request, deadline(patience), answer(number));
    turn();
    return answers[number];
  }
  std::string unbind(const fabricapi::Caller& caller, const fabric::Attachment& attachment,
                     int patience = 1000) {
    const size_t number = answers.size();
    answers.emplace_back();
    steward->at(now());
    steward->unbind(caller, attachment, deadline(patience), answer(number));
    turn();
    return answers[number];
  }
  void partition(const std::string& name, std::vector<std::string> allowed = {"*"}) {
    fabric::Tenancy tenancy;
    tenancy.name = name;
    tenancy.membership = fabric::Membership::full;
    tenancy.allowed = std::move(allowed);
    create(tenancy);
  }
  void create(const fabric::Tenancy& tenancy) {
    steward->at(now());
    steward->create_partition(kAdministrator, tenancy, [this](const auto& result) {
      last = result ? "ok" : std::string(result.error().text());
    });
    turn();
  }

  Deadline deadline(int patience) const {
    return Deadline::at(now().steady + std::chrono::milliseconds(patience));
  }
  fabricapi::Done<fabric::Binding> answer(size_t number) {
    return [this, number](const Result<fabric::Binding>& result) {
      answers[number] =
          result ? std::string(name(result->state)) : std::string(name(result.error().code()));
      last = result ? result->standing.text : result.error().text();
    };
  }
  fabric::Binding binding(const fabric::Attachment& attachment) const {
    return ledger->binding(kAdministrator, attachment).value();
  }

  // What a node says of a port's table, with the last stamp that it was given.
  std::string observe(const fabricapi::Caller& caller, ib::Guid guid, const ib::PKeyTable& table) {
    fabricapi::ObserveRequest observed{.node = caller.node, .stamp = stamp, .ports = {}};
    observed.ports.push_back({guid, table});
    std::string result;
    steward->at(now());
    steward->observe(caller, observed, [&](const Result<fabricapi::ObserveAnswer>& answer) {
      result = answer ? "ok" : std::string(name(answer.error().code()));
      if (answer) stamp = answer->stamp;
    });
    turn();
    return result;
  }
  static ib::PKeyTable table_of(std::vector<ib::PKey> keys) {
    keys.insert(keys.begin(), fabric::kDefaultPKey);
    keys.resize(8);
    return keys;
  }

  Limits limits;
  ChangeLimit::Settings changes;
  int ms = 1000;
  Duration lag{0};  // by which the clock is behind the turn's time when it is looked at
  std::string stamp;
  int epoch = 0;
  std::optional<ib::Guid> own_port;
  bool declares = true;
  FakeStore store;
  ModelEngine engine;
  ModelTables tables;
  TempFolder folder;
  log::Log log{log::Level::info};
  Report report{log};
  std::map<ib::Guid, ModelPort> ports{{kSmPort, {}}, {kVf1, {}}, {kVf2, {}}, {kVf3, {}}};
  std::vector<std::string> answers;
  std::string last;
  std::unique_ptr<Ledger> ledger;
  std::unique_ptr<Steward> steward;

 private:
  static Reading reading(ib::Guid guid, const ModelPort& port) {
    Reading made{.port = guid};
    if (port.there && port.answers)
      made.table = port.table;
    else
      made.table = NotRead{port.there ? Unread::timeout : Unread::port_unknown};
    return made;
  }
};

inline fabricapi::BindRequest request(ib::Guid guid, const std::string& partition,
                                      const std::string& container = "c1",
                                      const std::string& node = "n1") {
  fabricapi::BindRequest made;
  made.attachment = {node, container, "net1"};
  made.guid = guid;
  made.pf = "ib0";
  made.pf_guid = kPf;
  made.device = "0000:01:00.2";
  made.pod = {"team-a", "pod-" + container, "uid-" + container};
  made.partitions = {{partition, {}}};
  return made;
}

}  // namespace ibpod::sm::test
