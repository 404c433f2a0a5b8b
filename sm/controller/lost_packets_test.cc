// Half of the packets are lost, or all of them for a while: a binding is shown as verified only
// after its port's table was read with its key, and as released only after it was read without it.
// A table that another process has altered is repaired.
#include "sm/controller/controller_thread.h"
#include "sm/opensm/partitions_file.h"
#include "sm/probe/smp_port_prober.h"
#include "tests/support/fake_channel.h"
#include "tests/support/fake_store.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include <doctest/doctest.h>

namespace ibpod::sm::controller {
namespace {

using namespace std::chrono_literals;
using fabric::BindingState;

constexpr ib::Lid kLeaf = 100, kHosts = 6, kForgotten = 6;
constexpr ib::PKey kBlue{0x8001}, kLimitedBlue{0x0001}, kStray{0x8666};
const fabricapi::Caller kAdministrator{fabricapi::Role::administrator, "", "admin"};

// Writes the partitions into the tables of all ports except one, which it forgets. `writes`:
// whether it counts as the writer, so that ibpod-sm repairs tables.
class WritingEngine final : public engine::SubnetManager {
 public:
  WritingEngine(FakeSubnet& subnet, FakeChannel& channel, bool writes, OnChange changed)
      : subnet_(subnet), channel_(channel), writes_(writes), changed_(std::move(changed)) {}

  void apply(uint64_t version, engine::Partitions partitions) override {
    const verify::DesiredKeys desired(*partitions);
    channel_.between([&] {
      for (ib::Lid lid = 1; lid <= kHosts; ++lid) {
        if (lid == kForgotten) continue;
        FakeSubnetPort& port = subnet_.at(lid).ports.begin()->second;
        port.pkeys = verify::repaired(port.pkeys, desired.of({.guid = port.guid})).value();
      }
    });
    now_.placed = now_.swept = version;
    now_.health = engine::Health::serving;
    changed_();
  }
  engine::EngineStatus status() const override { return now_; }
  engine::Capabilities capabilities() const override {
    return {.writes = writes_, .repairs_tables = writes_, .manual_section = writes_};
  }
  std::vector<fabric::PartitionDefinition> as_written(
      std::vector<fabric::PartitionDefinition> definitions) const override {
    return writes_ ? opensm::as_written(std::move(definitions)) : std::move(definitions);
  }
  Status check(const std::vector<fabric::PartitionDefinition>&) const override { return ok(); }
  std::vector<fabric::PartitionDefinition> manual_partitions() const override { return {}; }

 private:
  FakeSubnet& subnet_;
  FakeChannel& channel_;
  const bool writes_;
  OnChange changed_;
  engine::EngineStatus now_;  // on the controller's thread
};

// Short timeouts, as each lost packet costs one.
probe::ProberSettings impatient() {
  probe::ProberSettings settings;
  settings.scan = {.every = 100ms, .partial = 20ms, .between = 5ms, .most_between = 20ms};
  settings.poll = {1ms, 20ms};
  settings.timeout = 10ms;
  settings.attempts = 4;
  settings.limit = 500ms;
  settings.discovery_limit = 5s;
  return settings;
}

state::Policy policy_of(FakeSubnet& subnet) {
  state::Policy policy;
  policy.pkeys = pool::PKeyPool::make({{1, 0x0fff, pool::RangeUse::automatic}}).value();
  for (ib::Lid lid = 1; lid <= kHosts; ++lid)
    policy.nodes["n1"].guids.insert(subnet.port_guid(lid));
  return policy;
}

struct Bed {
  explicit Bed(const FaultProfile& fault_profile, bool writes = false) {
    FakeSubnetNode& leaf = subnet.add_switch(kLeaf, kHosts + 2, 64);
    for (ib::Lid lid = 1; lid <= kHosts; ++lid)
      subnet.connect({&subnet.add_adapter(lid, 40), 1}, {&leaf, static_cast<uint8_t>(lid)});
    for (ib::Lid lid = 1; lid <= kHosts; ++lid)
      subnet.at(lid).ports.begin()->second.pkeys.at(0) = fabric::kDefaultPKey;
    auto made = std::make_unique<FakeChannel>(subnet, fault_profile);
    channel = made.get();
    scheduler = std::make_unique<mad::Scheduler>(std::move(made));
    registry = bindings::Registries::load(store, policy_of(subnet), now()).value();
    engine = std::make_unique<WritingEngine>(subnet, *channel, writes,
                                             [this] { thread.engine_changed(); });
    watch = std::make_unique<probe::SmpPortProber>(
        *scheduler, impatient(),
        [this](probe::ProbeBatch readings) { thread.probed(std::move(readings)); });
    controller = std::make_unique<Controller>(
        Controller::Deps{*registry, *engine, *watch, report, [] { return now().steady; }},
        ControllerSettings{.epoch = "e1"}, now());
    thread.start(*controller);
    follow();
  }
  ~Bed() {
    followed.reset();
    thread.stop();
    watch.reset();
  }
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;
  Bed(Bed&&) = delete;
  Bed& operator=(Bed&&) = delete;

  static state::Now now() {
    return {std::chrono::steady_clock::now(),
            std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())};
  }
  // The port's real table.
  ib::PKeyTable table(ib::Lid lid) {
    return channel->between([&] { return subnet.at(lid).ports.begin()->second.pkeys; });
  }
  void write(ib::Lid lid, const ib::PKeyTable& table) {
    channel->between([&] { subnet.at(lid).ports.begin()->second.pkeys = table; });
  }
  // True if the binding's state is wrong. While it is being released, or its table is being
  // altered, `verified` may be outdated.
  bool is_untrue(const fabric::Binding& binding) {
    ib::Lid lid = 1;
    while (subnet.port_guid(lid) != binding.guid) ++lid;
    const ib::PKeyTable now = table(lid);
    if (binding.state == BindingState::released) return ib::find_in(now, kLimitedBlue).has_value();
    const std::lock_guard lock(mutex);
    return binding.state == BindingState::verified && !moving.contains(lid) &&
           !ib::find_in(now, kBlue);
  }
  void follow() {
    const auto on_change = [this](const fabricapi::BindingChange& change) {
      const bool wrong = is_untrue(change.binding);
      const std::lock_guard lock(mutex);
      if (wrong) ++untrue;
      shown[change.binding.attachment.container] = change.binding;
      changed.notify_one();
      return true;
    };
    const auto begun = [this](auto started) {
      const std::lock_guard lock(mutex);
      followed = std::move(started).value();
      changed.notify_one();
    };
    thread.tasks().post(
        [=, this] { controller->calls().watch_bindings(kAdministrator, {}, on_change, begun); });
    wait([this] { return followed != nullptr; });
  }
  void partition() {
    bool made = false;
    fabric::Partition blue;
    blue.name = "blue";
    blue.membership = fabric::Membership::full;
    blue.allowed = {"*"};
    const auto done = [&](const auto& result) {
      const std::lock_guard lock(mutex);
      made = result.ok();
      changed.notify_one();
    };
    thread.tasks().post(
        [=, this] { controller->calls().create_partition(kAdministrator, blue, done); });
    wait([&] { return made; });
  }
  void bind(ib::Lid lid) {
    fabricapi::BindRequest request;
    request.attachment = {"n1", container(lid), "net1"};
    request.guid = subnet.port_guid(lid);
    request.pf = "ib0";
    request.device = "0000:01:00.2";
    request.pod = {"team", "pod", "uid-" + container(lid)};
    request.partitions = {{"blue", {}}};
    thread.tasks().post([=, this] {
      controller->calls().bind(kAdministrator, request, Deadline::in(60s), [](const auto&) {});
    });
  }
  void unbind(ib::Lid lid) {
    move(lid);
    const auto done = [this](const Result<fabric::Binding>& result) {
      if (!result || !is_untrue(*result)) return;
      const std::lock_guard lock(mutex);
      ++untrue;
    };
    thread.tasks().post([=, this] {
      controller->calls().unbind(kAdministrator, {"n1", container(lid), "net1"}, Deadline::in(60s),
                                 done);
    });
  }
  void move(ib::Lid lid) {
    const std::lock_guard lock(mutex);
    moving.insert(lid);
  }
  static std::string container(ib::Lid lid) { return "c" + std::to_string(lid); }
  // The caller holds `mutex`.
  BindingState state(ib::Lid lid) { return shown[container(lid)].state; }
  template <typename So>
  void wait(const So& so) {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, 60s, so));
  }
  // Waits for all ports except the one that the engine forgets.
  void wait_for_all(BindingState desired) {
    wait([&] {
      for (ib::Lid lid = 1; lid <= kHosts; ++lid)
        if (lid != kForgotten && state(lid) != desired) return false;
      return true;
    });
  }

  FakeSubnet subnet;
  FakeChannel* channel = nullptr;
  std::unique_ptr<mad::Scheduler> scheduler;
  FakeStore store;
  log::Log log{log::Level::error};
  telemetry::Telemetry report{log};
  std::unique_ptr<bindings::Registries> registry;
  ControllerThread thread;
  std::unique_ptr<engine::SubnetManager> engine;
  std::unique_ptr<probe::SmpPortProber> watch;
  std::unique_ptr<Controller> controller;
  std::mutex mutex;  // for the members below
  std::condition_variable changed;
  std::shared_ptr<fabricapi::Watch> followed;
  std::map<std::string, fabric::Binding> shown;
  std::set<ib::Lid> moving;
  size_t untrue = 0;
};

FaultProfile half_lost(unsigned seed) {
  return {.question_lost = 0.3, .answer_lost = 0.3, .duplicated = 0.2, .most = 2ms, .seed = seed};
}

TEST_CASE("half of the packets get lost: all is verified that is so, and nothing else") {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    Bed bed(half_lost(seed));
    bed.partition();
    for (ib::Lid lid = 1; lid <= kHosts; ++lid) bed.bind(lid);
    bed.wait_for_all(BindingState::verified);
    const std::lock_guard lock(bed.mutex);
    CHECK(bed.state(kForgotten) != BindingState::verified);
    CHECK(bed.untrue == 0);
  }
}

TEST_CASE("all packets get lost for a while: states are unknown, and then verified again") {
  Bed bed({.seed = 1});
  bed.partition();
  for (ib::Lid lid = 1; lid < kHosts; ++lid) bed.bind(lid);
  bed.wait_for_all(BindingState::verified);
  bed.channel->between([&] { bed.channel->faults().question_lost = 1; });
  bed.wait_for_all(BindingState::unknown);
  bed.bind(kForgotten);
  bed.wait([&] {
    return bed.shown[Bed::container(kForgotten)].condition.reason == fabric::Reason::timeout;
  });
  bed.channel->between([&] { bed.channel->faults().question_lost = 0; });
  bed.wait_for_all(BindingState::verified);
  const std::lock_guard lock(bed.mutex);
  CHECK(bed.state(kForgotten) != BindingState::verified);
  CHECK(bed.untrue == 0);
}

TEST_CASE("half of the packets get lost: no binding is released while its key is in the table") {
  for (const unsigned seed : {1u, 2u}) {
    CAPTURE(seed);
    Bed bed(half_lost(seed));
    bed.partition();
    for (ib::Lid lid = 1; lid <= kHosts; ++lid) bed.bind(lid);
    ib::PKeyTable with_key = bed.table(kForgotten);
    with_key.at(1) = kBlue;
    bed.write(kForgotten, with_key);
    bed.wait_for_all(BindingState::verified);
    bed.wait([&] { return bed.state(kForgotten) == BindingState::verified; });
    for (ib::Lid lid = 1; lid <= kHosts; ++lid) bed.unbind(lid);
    bed.wait_for_all(BindingState::released);
    bed.wait([&] {
      const fabric::Binding& binding = bed.shown[Bed::container(kForgotten)];
      CHECK(binding.state != BindingState::released);
      return binding.condition.reason == fabric::Reason::foreign_key;
    });
    with_key.at(1) = ib::PKey();
    bed.write(kForgotten, with_key);
    bed.wait([&] { return bed.state(kForgotten) == BindingState::released; });
    const std::lock_guard lock(bed.mutex);
    CHECK(bed.untrue == 0);
  }
}

TEST_CASE("half of the packets get lost: an altered table is repaired") {
  for (const unsigned seed : {1u, 2u}) {
    CAPTURE(seed);
    Bed bed(half_lost(seed), true);
    bed.partition();
    for (ib::Lid lid = 1; lid < kHosts; ++lid) bed.bind(lid);
    bed.wait_for_all(BindingState::verified);
    std::map<ib::Lid, ib::PKeyTable> before;
    for (ib::Lid lid = 1; lid < kHosts; ++lid) {
      before[lid] = bed.table(lid);
      bed.move(lid);
      ib::PKeyTable altered = before[lid];
      std::replace(altered.begin(), altered.end(), kBlue, lid % 2 == 0 ? ib::PKey() : kLimitedBlue);
      altered.back() = kStray;
      bed.write(lid, altered);
    }
    // Each binding is reported again when its table is right.
    const auto is_mended = [&](const auto& one) { return bed.table(one.first) == one.second; };
    bed.wait([&] { return std::all_of(before.begin(), before.end(), is_mended); });
    bed.wait_for_all(BindingState::verified);
    const std::lock_guard lock(bed.mutex);
    CHECK(bed.untrue == 0);
  }
}

}  // namespace
}  // namespace ibpod::sm::controller
