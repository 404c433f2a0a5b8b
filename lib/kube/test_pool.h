// A resource and its plugin, for the tests of DevicePlugin.
#pragma once

#include "lib/kube/device_plugin.h"
#include "tests/support/fake_kubelet.h"

#include <condition_variable>
#include <functional>
#include <mutex>

namespace ibpod::kube {

// A resource whose devices the test sets, and which notes what it is told.
class Pool final : public Resource {
 public:
  explicit Pool(std::string name = "example.com/ib_vf") : name_(std::move(name)) {}

  std::string name() const override { return name_; }
  Options options() const override { return {.pre_start = true, .prefers = true}; }
  std::vector<Device> devices() override {
    const std::lock_guard lock(mutex_);
    return devices_;
  }
  Result<Allocation> allocate(const DeviceIds& ids) override {
    const std::lock_guard lock(mutex_);
    if (ids.empty() || ids[0] == "gone") return Error(Code::not_found, "no such device");
    Allocation allocation = allocation_;
    allocation.envs["IDS"] = ids[0];
    return allocation;
  }
  Result<DeviceIds> prefer(const DeviceIds& available, const DeviceIds& must_include,
                           size_t size) override {
    DeviceIds preferred = must_include;
    for (auto id = available.rbegin(); id != available.rend() && preferred.size() < size; ++id) {
      preferred.push_back(*id);
    }
    return preferred;
  }
  Status pre_start(const DeviceIds& ids) override {
    return ids == DeviceIds{"gone"} ? Error(Code::unavailable, "not ready") : ok();
  }

  void set_devices(std::vector<Device> devices) {
    const std::lock_guard lock(mutex_);
    devices_ = std::move(devices);
  }
  void set_allocation(Allocation allocation) {
    const std::lock_guard lock(mutex_);
    allocation_ = std::move(allocation);
  }

 private:
  const std::string name_;
  std::mutex mutex_;
  std::vector<Device> devices_ = {{"0000:3b:00.1", true, 0}, {"0000:3b:00.2", false, {}}};
  Allocation allocation_;
};

// Collects the registration states that a plugin reports.
class Reports {
 public:
  void operator()(const Registration& registration) {
    const std::lock_guard lock(mutex_);
    last_ = registration;
    changed_.notify_all();
  }
  // Waits until it is as wanted; false after 30 s.
  bool await(const std::function<bool(const Registration&)>& wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return wanted(last_); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Registration last_;
};

// A plugin in a hurry. What it serves has to live longer.
struct PluginFixture {
  Reports reports = {};
  Pool pool = Pool();

  KubeletOptions kubelet(const Path& root, Mode mode) {
    return {.root = root,
            .mode = mode,
            .retry = {.first = Duration(10), .most = Duration(100), .quiet = Duration(20'000)},
            .on_change = [this](const Registration& registration) { reports(registration); }};
  }
  std::unique_ptr<DevicePlugin> start(const Path& root, Mode mode) {
    return DevicePlugin::start(pool, kubelet(root, mode)).value();
  }
  bool await_registered() {
    return reports.await([](const Registration& now) { return now.registered; });
  }
};

inline const std::string kResource = "example.com/ib_vf";

inline std::function<bool(const PluginSeen&)> registered(int times) {
  return [=](const PluginSeen& seen) {
    return seen.registrations >= times && seen.listening && !seen.list_sizes.empty();
  };
}

}  // namespace ibpod::kube
