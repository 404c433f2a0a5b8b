#include "lib/kube/device_plugin.h"

#include "lib/kube/test_pool.h"
#include "lib/rpc/unix_address.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>

#include <doctest/doctest.h>
#include <sys/socket.h>

namespace ibpod::kube {
namespace {

struct RegisteredBed : PluginBed {
  FakeKubelet kubelet_model{true};
  std::unique_ptr<DevicePlugin> plugin = start(kubelet_model.root(), Mode::automatic);
  RegisteredBed() {
    REQUIRE(kubelet_model.await(kResource, registered(1)));
    REQUIRE(await_registered());
  }
  bool await_devices(const std::vector<Device>& wanted) {
    return kubelet_model.await(kResource,
                               [&](const PluginSeen& seen) { return seen.devices == wanted; });
  }
};

// Entries of 64 bytes each: 65,536 of them are what the kubelet takes, to the byte.
std::vector<Device> devices_of_64_bytes(int count) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) {
    std::array<char, 64> id;
    std::snprintf(id.data(), id.size(), "%051d", i);
    devices.push_back({id.data()});
  }
  return devices;
}

TEST_CASE("a list is sent when it differs from the last, in whatever order it comes") {
  RegisteredBed bed;
  const std::vector<Device> two{{"a"}, {"b", false, 1}};
  bed.pool.set_devices({two[1], two[0]});
  CHECK(bed.plugin->publish());
  CHECK(bed.await_devices(two));
  bed.pool.set_devices(two);
  CHECK(bed.plugin->publish());
  bed.pool.set_devices({{"a"}});
  CHECK(bed.plugin->publish());
  CHECK(bed.await_devices({{"a"}}));
  CHECK(bed.kubelet_model.seen(kResource).list_sizes == std::vector<size_t>{2, 2, 1});
}

TEST_CASE("many lists at once end with the newest") {
  RegisteredBed bed;
  for (int i = 0; i < 200; ++i) {
    bed.pool.set_devices({{std::to_string(i)}});
    CHECK(bed.plugin->publish());
  }
  CHECK(bed.await_devices({{"199"}}));
}

TEST_CASE("an empty pool is registered with an empty list, and may fill later") {
  FakeKubelet kubelet(true);
  PluginBed bed;
  bed.pool.set_devices({});
  const auto plugin = bed.start(kubelet.root(), Mode::automatic);
  REQUIRE(kubelet.await(kResource, registered(1)));
  CHECK(kubelet.seen(kResource).list_sizes == std::vector<size_t>{0});
  bed.pool.set_devices({{"a"}});
  CHECK(plugin->publish());
  CHECK(kubelet.await(kResource, [](const PluginSeen& seen) { return seen.devices.size() == 1; }));
}

TEST_CASE("a list of 4 MiB arrives; one that is longer is refused here, and changes nothing") {
  RegisteredBed bed;
  bed.pool.set_devices(devices_of_64_bytes(65'536));
  CHECK(bed.plugin->publish());
  CHECK(bed.await_devices(bed.pool.devices()));
  bed.pool.set_devices(devices_of_64_bytes(65'537));
  const Status refused = bed.plugin->publish();
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text() ==
        "a list of 65537 devices has 4194368 bytes; the kubelet takes 4194304");
  CHECK(bed.kubelet_model.seen(kResource).registrations == 1);
  bed.pool.set_devices({{"a"}});
  CHECK(bed.plugin->publish());
  CHECK(bed.await_devices({{"a"}}));
}

TEST_CASE("what cannot work is refused at the start") {
  const TempFolder folder;
  PluginBed bed;
  Pool misnamed("ib_vf");
  CHECK(DevicePlugin::start(misnamed, bed.kubelet(folder.path(), Mode::automatic)).error().code() ==
        Code::invalid);
  const auto relative = DevicePlugin::start(bed.pool, bed.kubelet("var/kubelet", Mode::automatic));
  CHECK(relative.error().text() == "kubelet root \"var/kubelet\" is not absolute");
  const Path deep = folder.path() / std::string(60, 'x');
  CHECK(DevicePlugin::start(bed.pool, bed.kubelet(deep, Mode::legacy)).error().code() ==
        Code::invalid);
  bed.pool.set_devices({{"a"}, {"a"}});
  CHECK(DevicePlugin::start(bed.pool, bed.kubelet(folder.path(), Mode::legacy)).error().text() ==
        "device id \"a\" is there twice");
}

TEST_CASE("a container gets all that its allocation says") {
  RegisteredBed bed;
  bed.pool.set_allocation({.envs = {{"A", "1"}},
                           .mounts = {{"/in", "/host", true}},
                           .devices = {{"/dev/in", "/dev/host", "rw"}},
                           .annotations = {{"k", "v"}},
                           .cdi_devices = {"example.com/vf=a"}});
  const auto given = bed.kubelet_model.allocate(kResource, {"x"}).value();
  CHECK(given.envs().at("A") == "1");
  CHECK(given.envs().at("IDS") == "x");
  CHECK(given.annotations().at("k") == "v");
  REQUIRE(given.mounts_size() == 1);
  CHECK(given.mounts(0).container_path() == "/in");
  CHECK(given.mounts(0).host_path() == "/host");
  CHECK(given.mounts(0).read_only());
  REQUIRE(given.devices_size() == 1);
  CHECK(given.devices(0).container_path() == "/dev/in");
  CHECK(given.devices(0).host_path() == "/dev/host");
  CHECK(given.devices(0).permissions() == "rw");
  REQUIRE(given.cdi_devices_size() == 1);
  CHECK(given.cdi_devices(0).name() == "example.com/vf=a");
}

TEST_CASE("the resource's errors reach the kubelet, and its preferences") {
  RegisteredBed bed;
  const auto refused = bed.kubelet_model.allocate(kResource, {"gone"});
  CHECK(refused.error().code() == Code::not_found);
  CHECK(refused.error().text() == "no such device");
  CHECK(bed.kubelet_model.prefer(kResource, {"a", "b", "c"}, {"b"}, 2).value() ==
        DeviceIds{"b", "c"});
  CHECK(bed.kubelet_model.prefer(kResource, {"a"}, {}, -1).error().code() == Code::invalid);
  CHECK(bed.kubelet_model.pre_start(kResource, {"a"}));
  CHECK(bed.kubelet_model.pre_start(kResource, {"gone"}).error().code() == Code::unavailable);
}

TEST_CASE("a plugin that stops sends no list, and leaves no socket behind") {
  for (const Mode mode : {Mode::watcher, Mode::legacy}) {
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    plugin->stop();
    plugin->stop();
    CHECK(kubelet.await(kResource, [](const PluginSeen& seen) { return !seen.listening; }));
    CHECK(kubelet.seen(kResource).list_sizes == std::vector<size_t>{2});
    CHECK_FALSE(plugin->registration().registered);
    CHECK_FALSE(path_exists(kubelet.root() / "plugins_registry/example.com_ib_vf.sock"));
    CHECK_FALSE(path_exists(kubelet.root() / "device-plugins/example.com_ib_vf.sock"));
  }
}

TEST_CASE("a plugin stops while it is asked and publishes") {
  RegisteredBed bed;
  std::atomic<bool> over = false;
  std::atomic<int> answered = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&] {
      while (!over && bed.kubelet_model.allocate(kResource, {"a"})) ++answered;
    });
  }
  std::thread publisher([&] {
    for (int i = 0; !over; ++i) {
      bed.pool.set_devices({{std::to_string(i)}});
      if (!bed.plugin->publish()) return;
    }
  });
  CHECK(bed.kubelet_model.await(kResource, [&](const PluginSeen& seen) {
    return seen.list_sizes.size() > 20 && answered > 0;
  }));
  bed.plugin->stop();
  over = true;
  for (std::thread& asker : askers) asker.join();
  publisher.join();
  CHECK(answered > 0);
  for (const size_t size : bed.kubelet_model.seen(kResource).list_sizes) CHECK(size > 0);
}

TEST_CASE("a plugin that stops does not wait for a kubelet that does not answer") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "device-plugins");
  // It listens and never says a word.
  const Fd mute = rpc::unix_socket().value();
  const auto address = rpc::unix_address(folder.path() / "device-plugins/kubelet.sock").value();
  REQUIRE(::bind(mute.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(mute.get(), 1) == 0);
  PluginBed bed;
  const auto plugin = bed.start(folder.path(), Mode::legacy);
  REQUIRE(bed.reports.await([](const Registration& now) { return now.attempts == 1; }));
  plugin->stop();
  CHECK_FALSE(plugin->registration().registered);
}

TEST_CASE("streams of kubelets that hang up are gone") {
  RegisteredBed bed;
  for (int i = 0; i < 5; ++i) {
    const int now = bed.kubelet_model.seen(kResource).registrations;
    bed.kubelet_model.hang_up(kResource);
    REQUIRE(bed.kubelet_model.await(kResource, registered(now + 1)));
    REQUIRE(bed.await_registered());
  }
  bed.pool.set_devices({{"a"}});
  CHECK(bed.plugin->publish());
  CHECK(bed.await_devices({{"a"}}));
}

}  // namespace
}  // namespace ibpod::kube
