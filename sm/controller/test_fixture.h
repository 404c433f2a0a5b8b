// A subnet in memory for the controller: ports with tables, a subnet manager that writes them when
// the test says so, and a store that can fail.
#pragma once

#include "lib/fabric/test_partitions.h"
#include "sm/controller/controller.h"
#include "sm/opensm/partitions_file.h"
#include "tests/support/fake_store.h"
#include "tests/support/temp_folder.h"

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {

// A subnet manager: place() puts the desired partitions in place, and a sweep writes them into the
// tables. Like OpenSM it writes only what differs from its own last write.
class ModelSubnetManager final : public engine::SubnetManager {
 public:
  void apply(uint64_t version, engine::Partitions partitions) override {
    wanted_version = version;
    wanted = std::move(partitions);
  }
  engine::EngineStatus status() const override { return now; }
  engine::Capabilities capabilities() const override {
    return {.writes = writing,
            .repairs_tables = writing && repairs,
            .manual_section = writing && manual_section,
            .follows_sweeps = follows_sweeps,
            .serves_vports = serves_vports,
            .confines_vfs = confines_vfs};
  }
  void set_vf_ports(std::vector<engine::VfPort> ports) override {
    vf_ports.push_back(std::move(ports));
  }
  std::vector<engine::PortFault> port_faults() const override { return faults; }
  std::vector<engine::PartitionFault> partition_faults() const override {
    return faults_of_partitions;
  }
  std::vector<fabric::PartitionDefinition> as_written(
      std::vector<fabric::PartitionDefinition> definitions) const override {
    return writing ? opensm::as_written(std::move(definitions)) : std::move(definitions);
  }
  Status check(const std::vector<fabric::PartitionDefinition>& definitions) const override {
    std::set<uint16_t> pkeys;
    for (const fabric::PartitionDefinition& definition : definitions)
      if (!pkeys.insert(definition.pkey.partition()).second)
        return Error(Code::exists, definition.pkey.text() + " is there twice");
    return refusal.empty() ? ok() : Status(Error(Code::invalid, refusal));
  }
  std::vector<fabric::PartitionDefinition> manual_partitions() const override { return manual; }

  void apply() {
    now.placed = wanted_version;
    applied = wanted;
    now.health = engine::Health::serving;
  }

  // The file is discarded, and every port is open.
  void discard() {
    ++now.fail_opens;
    now.swept = 0;
    now.health = engine::Health::failed_open;
  }

  engine::EngineStatus now;
  bool writing = true;
  bool repairs = true;
  bool manual_section = true;
  bool follows_sweeps = true;
  bool serves_vports = false;
  bool confines_vfs = false;
  std::vector<std::vector<engine::VfPort>> vf_ports;  // all that it was given
  std::vector<engine::PortFault> faults;
  std::vector<engine::PartitionFault> faults_of_partitions;
  std::string refusal;
  uint64_t wanted_version = 0;
  engine::Partitions wanted, applied;
  std::vector<fabric::PartitionDefinition> manual;
};

struct ModelPort {
  ib::PKeyTable table = ib::PKeyTable(8);
  bool there = true;
  bool answers = true;
  bool virtualized = false;
  ib::PortState state = ib::PortState::active;
};

class ModelPortProber final : public probe::PortProber {
 public:
  void poll(std::set<ib::Guid> ports) override { polled = std::move(ports); }
  void repair(std::vector<probe::Repair> desired) override {
    for (probe::Repair& one : desired) repairs.push_back(one);
  }
  void swept() override { ++sweeps; }
  void rescan() override { ++looks; }

  std::set<ib::Guid> polled;
  int sweeps = 0;
  int looks = 0;
  std::vector<probe::Repair> repairs;
};

inline const fabricapi::Caller kAdministrator{fabricapi::Role::administrator, "", "admin"};
inline const fabricapi::Caller kNode1{fabricapi::Role::node, "n1", "system:node:n1"};
inline const fabricapi::Caller kNode2{fabricapi::Role::node, "n2", "system:node:n2"};
inline constexpr ib::Guid kSmPort{0x0002c90300000001}, kVf1{0x0002c90300000011},
    kVf2{0x0002c90300000012}, kVf3{0x0002c90300000021}, kPf{0x0002c90300000031},
    kDevVf{0x0002c90300000041},   // of n1 in the cluster dev, and on no port
    kChosen{0x0200000100000001};  // any pod may request it

class Fixture {
 public:
  Fixture() {
    REQUIRE(log.open(folder.path() / "log"));
    restart();
  }

  // Starts a new process after a kill. Waiting callers get no answer.
  void restart() {
    controller.reset();
    state::Policy given = policy();
    given.limits = limits;
    registry = bindings::Registries::load(store, std::move(given), now()).value();
    controller =
        std::make_unique<Controller>(Controller::Deps{*registry, engine, tables, telemetry,
                                                      [this] { return now().steady + lag; }},
                                     ControllerSettings{.epoch = "e" + std::to_string(++epoch),
                                                        .own_port = own_port,
                                                        .has_declared_file = declares,
                                                        .changes = changes},
                                     now());
    tick();
  }

  static state::Policy policy() {
    state::Policy policy;
    policy.pkeys = pool::PKeyPool::make({{1, 0x0fff, pool::RangeUse::automatic},
                                         {0x1000, 0x7ffe, pool::RangeUse::by_request}})
                       .value();
    policy.guids = pool::GuidPool::make({{kChosen, kChosen, {"*"}}}).value();
    policy.nodes["n1"].guids = {kVf1, kVf2};
    policy.nodes["n2"].guids = {kVf3};
    policy.nodes["dev/n1"].guids = {kDevVf};
    policy.clusters = {"prod", {"dev"}};
    return policy;
  }

  state::Now now() const {
    return {verify::VersionHistory::Time(std::chrono::milliseconds(ms)),
            fabric::WallTime(std::chrono::milliseconds(ms))};
  }
  // A tick, `later` milliseconds after the last one.
  void tick(int later = 1) {
    ms += later;
    controller->set_time(now());
    controller->tick();
  }
  void engine_says() {
    controller->set_time(now());
    controller->engine_changed();
    tick();
  }

  // The last line of the log with that message; empty if there is none.
  std::string logged(const std::string& message) const {
    std::istringstream lines(read_file(folder.path() / "log").value());
    std::string found;
    for (std::string line; std::getline(lines, line);)
      if (line.find("\"msg\":\"" + message + "\"") != line.npos) found = line;
    return found;
  }

  // Puts the file in place.
  void place() {
    engine.apply();
    engine_says();
  }
  // The subnet manager writes the tables; the sweep ends separately.
  void write_tables() {
    const verify::DesiredKeys desired(*engine.applied);
    for (auto& [guid, port] : ports) {
      const verify::DesiredTable keys = desired.of({.guid = guid, .runs_sm = guid == kSmPort});
      if (port.there) port.table = verify::repaired(port.table, keys).value();
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

  // The prober reads the ports that the controller polls, or all.
  void read(bool all = false) {
    probe::ProbeBatch readings{.begun = now().steady,
                               .topology = topology(),
                               .ports = {},
                               .full_scan = all,
                               .complete = all};
    tick();
    for (const auto& [guid, port] : ports)
      if (all ? port.there : tables.polled.contains(guid))
        readings.ports.push_back(probe_result(guid, port));
    for (const ib::Guid guid : tables.polled)
      if (!ports.contains(guid)) readings.ports.push_back(probe_result(guid, {.there = false}));
    controller->set_time(now());
    controller->probed(readings);
    tick();
  }
  void settle() {
    sweep();
    read();
  }

  // Carries out the planned repairs, which takes `takes` milliseconds.
  void repair(int takes = 0) {
    probe::ProbeBatch readings{.begun = now().steady, .topology = topology(), .ports = {}};
    ms += takes;
    for (const probe::Repair& repair : std::exchange(tables.repairs, {})) {
      readings.ports.push_back(
          {.port = repair.port, .table = probe::ProbeError{probe::ProbeFailure::cancelled}});
      readings.ports.back().after_repair = true;
      if (repair.table == probe::Repair::Table::switch_port) continue;
      ib::PKeyTable& table = ports[repair.port].table;
      CHECK(mad::block_of(table, repair.block) == repair.expected);
      for (size_t place = 0; place < table.size(); ++place)
        if (place / mad::kBlockEntries == repair.block)
          table[place] = repair.keys[place % mad::kBlockEntries];
      readings.ports.back().table = table;
    }
    controller->set_time(now());
    controller->probed(readings);
    tick();
  }

  std::shared_ptr<const fabric::Topology> topology() const {
    fabric::Topology::Contents contents;
    for (const auto& [guid, port] : ports) {
      if (!port.there) continue;
      fabric::Port seen;
      seen.guid = guid;
      seen.partition_cap = static_cast<uint16_t>(port.table.size());
      seen.state = port.state;
      seen.virtualized = port.virtualized;
      seen.lid = static_cast<ib::Lid>(guid.value() & 0xff);
      contents.ports.push_back(seen);
    }
    contents.managers.push_back(
        {kSmPort, mad::SmInfo{.guid = kSmPort, .state = mad::SmState::master}});
    return std::make_shared<fabric::Topology>(std::move(contents));
  }

  // Sends a Bind. Returns its result: "verified", "denied" …; empty while there is no answer.
  std::string bind(const fabricapi::Caller& caller, const fabricapi::BindRequest& request,
                   int context = 1000) {
    const size_t number = answers.size();
    answers.emplace_back();
    controller->set_time(now());
    controller->calls().bind(caller, request, deadline(context), answer(number));
    tick();
    return answers[number];
  }
  std::string unbind(const fabricapi::Caller& caller, const fabric::Attachment& attachment,
                     int context = 1000) {
    const size_t number = answers.size();
    answers.emplace_back();
    controller->set_time(now());
    controller->calls().unbind(caller, attachment, deadline(context), answer(number));
    tick();
    return answers[number];
  }
  void partition(const std::string& name, std::vector<std::string> allowed = {"*"}) {
    fabric::Partition partition;
    partition.name = name;
    partition.membership = fabric::Membership::full;
    partition.allowed = std::move(allowed);
    create(partition);
  }
  void create(const fabric::Partition& partition) {
    controller->set_time(now());
    controller->calls().create_partition(kAdministrator, partition, [this](const auto& result) {
      last = result ? "ok" : std::string(result.error().text());
    });
    tick();
  }

  Deadline deadline(int context) const {
    return Deadline::at(now().steady + std::chrono::milliseconds(context));
  }
  fabricapi::Done<fabric::Binding> answer(size_t number) {
    return [this, number](const Result<fabric::Binding>& result) {
      answers[number] =
          result ? std::string(name(result->state)) : std::string(name(result.error().code()));
      last = result ? result->condition.text : result.error().text();
    };
  }
  fabric::Binding binding(const fabric::Attachment& attachment) const {
    return registry->bindings.binding(attachment).value();
  }

  // Sends a node's report of a port's table, with the last stamp that it received.
  std::string observe(const fabricapi::Caller& caller, ib::Guid guid, const ib::PKeyTable& table) {
    fabricapi::ObserveRequest observed{.node = caller.node, .stamp = stamp, .ports = {}};
    observed.ports.push_back({guid, table});
    std::string result;
    controller->set_time(now());
    controller->calls().observe(caller, observed, [&](const Result<v1::ObserveResponse>& answer) {
      result = answer ? "ok" : std::string(name(answer.error().code()));
      if (answer) stamp = answer->stamp();
    });
    tick();
    return result;
  }
  static ib::PKeyTable table_of(std::vector<ib::PKey> keys) {
    keys.insert(keys.begin(), fabric::kDefaultPKey);
    keys.resize(8);
    return keys;
  }

  state::RegistryLimits limits;
  ChangeLimit::Settings changes;
  int ms = 1000;
  Duration lag{0};  // how much later the clock is than the tick's time
  std::string stamp;
  int epoch = 0;
  std::optional<ib::Guid> own_port;
  bool declares = true;
  FakeStore store;
  ModelSubnetManager engine;
  ModelPortProber tables;
  TempFolder folder;
  log::Log log{log::Level::info};
  telemetry::Telemetry telemetry{log};
  std::map<ib::Guid, ModelPort> ports{{kSmPort, {}}, {kVf1, {}}, {kVf2, {}}, {kVf3, {}}};
  std::vector<std::string> answers;
  std::string last;
  std::unique_ptr<bindings::Registries> registry;
  std::unique_ptr<Controller> controller;

 private:
  static probe::ProbeResult probe_result(ib::Guid guid, const ModelPort& port) {
    probe::ProbeResult made{.port = guid};
    if (port.there && port.answers)
      made.table = port.table;
    else
      made.table = probe::ProbeError{port.there ? probe::ProbeFailure::timeout
                                                : probe::ProbeFailure::port_unknown};
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

}  // namespace ibpod::sm::controller::test
