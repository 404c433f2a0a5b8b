// The whole agent on a node where everything happens at the same time: pods are given devices, the
// kubelet restarts and cuts its streams, devices come, go and fall ill, the configuration changes,
// well or badly. CHURN_SECONDS says for how long; a sanitizer says what was wrong in between.
#include "agent/agent.h"
#include "agent/snapshot/snapshot.h"
#include "agent/test_agent_fixture.h"
#include "lib/netns/netns.h"
#include "lib/nodeapi/client.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::agent {
namespace {

using kube::DeviceIds;

constexpr const char* kVfs = "example.com/vfs";
constexpr const char* kRest = "example.com/rest";
constexpr const char* kOwn = "/proc/self/ns/net";
constexpr size_t kInUse =
    4;  // devices that pods have all the while: the first ones of the first PF

const std::string kEveryVf =
    R"({"resourceName": "vfs", "isolation": false, "selectors": {"vendors": ["15b3"]}})";
const std::string kSpread =
    R"({"resourceName": "vfs", "isolation": false, "policy": "spread",
        "selectors": {"vendors": ["15b3"]}})";
// Takes none by its selectors: what pods have stays in it all the same.
const std::string kNone =
    R"({"resourceName": "vfs", "isolation": false, "selectors": {"vendors": ["dead"]}},
       {"resourceName": "rest", "isolation": false})";
const std::string kTwo = kEveryVf + R"(, {"resourceName": "rest", "isolation": false})";

Duration length() {
  const char* const seconds = std::getenv("CHURN_SECONDS");
  return std::chrono::seconds(seconds == nullptr ? 4 : std::atoi(seconds));
}

DeviceIds ids_of(const std::vector<kube::Device>& devices) {
  DeviceIds ids;
  for (const kube::Device& device : devices) ids.push_back(device.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

// The first broken promise, from the thread that saw it.
class Broken {
 public:
  void add(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    if (texts_.size() < 20) texts_.push_back(text);
  }
  std::vector<std::string> texts() const {
    const std::scoped_lock lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

class Churn {
 public:
  explicit Churn(bool plugin_watcher) : fixture_(plugin_watcher) {
    for (int pf = 0; pf < 2; ++pf) {
      pfs_.push_back(fixture_.tree.add_pf());
      for (int vf = 0; vf < 8; ++vf) vfs_.push_back(fixture_.tree.add_vf(pfs_.back()));
    }
    for (size_t i = 0; i < kInUse; ++i) in_use_.push_back(vfs_[i].text());
    fixture_.tree.remove_netdevs();  // this kernel knows of none of them
    fixture_.configure(kEveryVf);
    config::Reloader reloader =
        config::Reloader::start(fixture_.configuration(), "node", check_sections).value();
    agent_ = Agent::open(std::move(reloader), log_).value();
    running_ = std::thread([this] {
      const Status ended = agent_->run();
      if (!ended) broken_.add("the agent ends: " + ended.error().text());
    });
  }
  ~Churn() {
    agent_->stop();
    running_.join();
    agent_->shut_down();
  }
  Churn(const Churn&) = delete;
  Churn& operator=(const Churn&) = delete;

  // Pods have the first devices: given out, and attached.
  void occupy() {
    REQUIRE(sees([&](const PluginSeen& seen) { return seen.devices.size() == vfs_.size(); }));
    REQUIRE(fixture_.kubelet.allocate(kVfs, in_use_).ok());
    for (const std::string& id : in_use_) REQUIRE(records_.write(record_of(id)).ok());
    REQUIRE(fixture_.announce(pfs_[0]).ok());
  }

  void run() {
    const auto again = [this](auto what) {
      return std::thread([this, what] {
        while (!is_over()) what();
      });
    };
    std::thread threads[] = {
        again([this] { take_devices(1); }),        again([this] { take_devices(2); }),
        again([this] { restart_kubelet(); }),      again([this] { change_devices(); }),
        again([this] { change_configuration(); }), again([this] { ask(); })};
    pause(length());
    // A slow machine gets the time that it needs for some of each.
    const Deadline timeout = Deadline::in(std::chrono::seconds(60));
    while (!some_of_each() && !timeout.passed()) pause();
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    end_.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  // Everything comes to rest, and the kubelet knows what there is.
  void settle() {
    fixture_.configure(kEveryVf);
    for (const ib::PciAddress& pf : pfs_) REQUIRE(fixture_.announce(pf).ok());
    const std::vector<kube::Device> expected = inventory();
    const bool same =
        sees([&](const PluginSeen& seen) { return seen.listening && seen.devices == expected; });
    CHECK(ids_of(fixture_.kubelet.seen(kVfs).devices) == ids_of(expected));
    CHECK(same);
    CHECK(broken_.texts() == std::vector<std::string>());
    MESSAGE(counted());
    CHECK(allocations_ > 0);
    CHECK(restarts_ > 0);
    CHECK(reloads_ > 0);
    CHECK(changes_ > 0);
  }

 private:
  bool sees(const std::function<bool(const PluginSeen&)>& wanted) {
    return fixture_.kubelet.await(kVfs, wanted);
  }

  bool some_of_each() const {
    return allocations_ > 0 && restarts_ > 0 && reloads_ > 0 && changes_ > 0;
  }

  std::string counted() const {
    return std::to_string(allocations_) + " allocations, " + std::to_string(refusals_) +
           " refused, " + std::to_string(restarts_) + " restarts, " + std::to_string(cuts_) +
           " streams cut, " + std::to_string(changes_) + " changes of devices, " +
           std::to_string(reloads_) + " configurations, " + std::to_string(questions_) +
           " questions";
  }

  // Alive: its namespace is the test's own.
  node::Record record_of(const std::string& id) const {
    node::Record record;
    record.plugin = "ib-sriov";
    record.device = *ib::PciAddress::parse(id);
    record.container_id = "c" + id.substr(8, 2) + id.substr(11);
    record.ifname = "net1";
    record.pod = {"default", "trainer" + id.substr(11), "uid"};
    record.netns = {kOwn, netns::NetNs::open(kOwn).value().identity().value()};
    record.boot_id = boot_id_;
    return record;
  }

  // The devices that a kubelet should know, from a new inventory without earlier readings.
  std::vector<kube::Device> inventory() {
    const sysfs::Sysfs sysfs = fixture_.tree.open();
    nl::Socket route = nl::Socket::open(nl::Family::route).value();
    const auto network = node::read_host_network(route).value();
    const auto pod_sysfs = [](const node::Namespace& pod) { return node::open_pod_sysfs(pod, {}); };
    auto devices = device_plugin::Inventory().read(
        {.sysfs = sysfs, .records = records_, .network = network, .pod_sysfs = pod_sysfs},
        {.everything = true});
    device_plugin::Pool pool;
    pool.isolation = false;
    pool.prefix = "example.com";
    pool.name = "vfs";
    const snapshot::Snapshot snapshot =
        snapshot::make_snapshot(std::move(devices).value(), {{pool}, {}, {}, {}, {}});
    std::vector<kube::Device> expected;
    for (const device_plugin::PoolDevice& pool_device : snapshot.pool_contents.at(0).devices)
      expected.push_back({pool_device.id, pool_device.unhealthy.empty(), pool_device.device.numa});
    std::sort(expected.begin(), expected.end(),
              [](const kube::Device& a, const kube::Device& b) { return a.id < b.id; });
    return expected;
  }

  // For each thread, which has its own seed.
  static unsigned random_of(unsigned seed) {
    thread_local std::mt19937 random(seed);
    return static_cast<unsigned>(random());
  }

  // As the kubelet does it: a preference, an allocation, a start.
  void take_devices(unsigned seed) {
    const std::string resource = random_of(seed) % 4 == 0 ? kRest : kVfs;
    const PluginSeen seen = fixture_.kubelet.seen(resource);
    if (seen.listening && resource == kVfs && !seen.devices.empty()) check_capacity(seen);
    DeviceIds available;
    for (const kube::Device& device : seen.devices)
      if (device.healthy) available.push_back(device.id);
    const size_t size = 1 + random_of(seed) % 4;
    if (available.size() < size) return pause();
    const auto preferred =
        fixture_.kubelet.prefer(resource, available, {available.back()}, static_cast<int>(size));
    if (!preferred) return refused(preferred.error());
    check_preference(*preferred, available, size);
    const auto allocated = fixture_.kubelet.allocate(resource, *preferred);
    if (!allocated) return refused(allocated.error());
    ++allocations_;
    const Status started = fixture_.kubelet.pre_start(resource, *preferred);
    if (!started) refused(started.error());
  }

  // The list has the devices of pods after every reconfiguration and restart.
  void check_capacity(const PluginSeen& seen) {
    const DeviceIds ids = ids_of(seen.devices);
    if (!std::includes(ids.begin(), ids.end(), in_use_.begin(), in_use_.end()))
      broken_.add("a device that a pod has is not in the list");
  }

  void check_preference(const DeviceIds& preferred, const DeviceIds& available, size_t size) {
    const std::set<std::string> once(preferred.begin(), preferred.end());
    if (preferred.size() != size || once.size() != size) broken_.add("a device is given twice");
    if (!once.contains(available.back())) broken_.add("what must be included is not");
    for (const std::string& id : preferred)
      if (std::find(available.begin(), available.end(), id) == available.end())
        broken_.add("a device is preferred that is not available");
  }

  // A device or a pool may have gone since it was seen, and so may the kubelet's connection.
  void refused(const Error& error) {
    ++refusals_;
    const bool fine = error.code() == Code::not_found || error.code() == Code::invalid ||
                      error.code() == Code::unavailable || error.code() == Code::internal;
    if (!fine) broken_.add("refused: " + error.text());
    pause();
  }

  // A while in which others get to their work.
  void pause(Duration length = Duration(20)) {
    std::unique_lock lock(mutex_);
    end_.wait_for(lock, length, [this] { return over_; });
  }
  bool is_over() {
    const std::scoped_lock lock(mutex_);
    return over_;
  }

  // Sometimes the streams are cut before.
  void restart_kubelet() {
    const int before = fixture_.kubelet.seen(kVfs).registrations;
    if (random_of(4) % 3 == 0) {
      fixture_.kubelet.hang_up(kVfs);
      fixture_.kubelet.hang_up(kRest);
      ++cuts_;
    }
    fixture_.kubelet.stop();
    pause();
    fixture_.kubelet.start();
    ++restarts_;
    const auto again = [&](const PluginSeen& seen) {
      return seen.listening && seen.registrations > before && !seen.devices.empty();
    };
    // A minute: attempts that fail one after the other come half a minute apart in the end.
    if (!sees(again) && !sees(again))
      broken_.add("there was no registration after the kubelet's restart");
    pause(Duration(500));  // most pods come to a kubelet that runs
  }

  void change_devices() {
    const size_t number = kInUse + random_of(3) % (vfs_.size() - kInUse);
    const ib::PciAddress vf = vfs_[number];
    switch (random_of(3) % 4) {
      case 0:
        if (vfs_.size() <= kInUse + 2) break;
        fixture_.tree.vanish(vf);
        vfs_.erase(vfs_.begin() + static_cast<ptrdiff_t>(number));
        break;
      case 1:
        if (vfs_.size() < 40) vfs_.push_back(fixture_.tree.add_vf(pfs_[random_of(3) % 2]));
        break;
      case 2:
        fixture_.tree.unbind(vf);
        fixture_.tree.bind(vf);
        break;
      default:
        fixture_.tree.set_port(vf, "state", random_of(3) % 2 == 0 ? "4: ACTIVE" : "1: DOWN");
    }
    fixture_.tree.remove_netdevs();
    // A new one was told of, too: its PF.
    for (const ib::PciAddress& one : {vf, pfs_[0], pfs_[1]})
      if (!fixture_.announce(one)) broken_.add("an event cannot be made");
    ++changes_;
    pause();
  }

  void change_configuration() {
    switch (reloads_++ % 6) {
      case 0:
        return configure(kTwo);
      case 1:
        return fixture_.write("{\"resourceList\": [");
      case 2:
        return configure(kNone);
      case 3:
        return fixture_.write(R"({"resourceLists": []})");
      case 4:
        return configure(kSpread);
      default:
        return configure(kEveryVf);
    }
  }
  void configure(const std::string& pools) {
    fixture_.configure(pools);
    pause();
  }

  void ask() {
    const auto node = nodeapi::connect(fixture_.socket());
    const auto devices = node->devices(Deadline::in(std::chrono::seconds(20)));
    const auto health = node->health(Deadline::in(std::chrono::seconds(20)));
    if (!devices || !health) broken_.add("the agent does not answer");
    ++questions_;
    pause();
  }

  AgentFixture fixture_;
  node::Records records_{fixture_.state()};
  std::string boot_id_ = read_file("/proc/sys/kernel/random/boot_id").value().substr(0, 36);
  std::vector<ib::PciAddress> pfs_, vfs_;  // vfs_: by the thread that changes devices
  DeviceIds in_use_;
  log::Log log_{log::Level::error};
  Broken broken_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool over_ = false;  // guarded by mutex_
  std::atomic<int> allocations_ = 0, refusals_ = 0, restarts_ = 0, cuts_ = 0, changes_ = 0,
                   reloads_ = 0, questions_ = 0;
  std::unique_ptr<Agent> agent_;
  std::thread running_;
};

TEST_CASE("churn: whatever happens at the same time, the kubelet comes to know what there is") {
  for (const bool plugin_watcher : {true, false}) {
    CAPTURE(plugin_watcher);
    if (!may_announce()) return;
    Churn churn(plugin_watcher);
    churn.occupy();
    churn.run();
    churn.settle();
  }
}

}  // namespace
}  // namespace ibpod::agent
