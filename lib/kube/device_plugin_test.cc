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

struct RegisteredFixture : PluginFixture {
  FakeKubelet kubelet_model{true};
  std::unique_ptr<DevicePlugin> plugin = start(kubelet_model.root(), Mode::automatic);
  RegisteredFixture() {
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
  RegisteredFixture fixture;
  const std::vector<Device> two{{"a"}, {"b", false, 1}};
  fixture.pool.set_devices({two[1], two[0]});
  CHECK(fixture.plugin->publish());
  CHECK(fixture.await_devices(two));
  fixture.pool.set_devices(two);
  CHECK(fixture.plugin->publish());
  fixture.pool.set_devices({{"a"}});
  CHECK(fixture.plugin->publish());
  CHECK(fixture.await_devices({{"a"}}));
  CHECK(fixture.kubelet_model.seen(kResource).list_sizes == std::vector<size_t>{2, 2, 1});
}

TEST_CASE("many lists at once end with the newest") {
  RegisteredFixture fixture;
  for (int i = 0; i < 200; ++i) {
    fixture.pool.set_devices({{std::to_string(i)}});
    CHECK(fixture.plugin->publish());
  }
  CHECK(fixture.await_devices({{"199"}}));
}

TEST_CASE("an empty pool is registered with an empty list, and may fill later") {
  FakeKubelet kubelet(true);
  PluginFixture fixture;
  fixture.pool.set_devices({});
  const auto plugin = fixture.start(kubelet.root(), Mode::automatic);
  REQUIRE(kubelet.await(kResource, registered(1)));
  CHECK(kubelet.seen(kResource).list_sizes == std::vector<size_t>{0});
  fixture.pool.set_devices({{"a"}});
  CHECK(plugin->publish());
  CHECK(kubelet.await(kResource, [](const PluginSeen& seen) { return seen.devices.size() == 1; }));
}

TEST_CASE("a list of 4 MiB arrives; one that is longer is refused here, and changes nothing") {
  RegisteredFixture fixture;
  fixture.pool.set_devices(devices_of_64_bytes(65'536));
  CHECK(fixture.plugin->publish());
  CHECK(fixture.await_devices(fixture.pool.devices()));
  fixture.pool.set_devices(devices_of_64_bytes(65'537));
  const Status refused = fixture.plugin->publish();
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text() ==
        "a list of 65537 devices has 4194368 bytes; the kubelet accepts at most 4194304");
  CHECK(fixture.kubelet_model.seen(kResource).registrations == 1);
  fixture.pool.set_devices({{"a"}});
  CHECK(fixture.plugin->publish());
  CHECK(fixture.await_devices({{"a"}}));
}

TEST_CASE("what cannot work is refused at the start") {
  const TempFolder folder;
  PluginFixture fixture;
  Pool misnamed("ib_vf");
  CHECK(DevicePlugin::start(misnamed, fixture.kubelet(folder.path(), Mode::automatic))
            .error()
            .code() == Code::invalid);
  const auto relative =
      DevicePlugin::start(fixture.pool, fixture.kubelet("var/kubelet", Mode::automatic));
  CHECK(relative.error().text() == "kubelet root \"var/kubelet\" is not absolute");
  const Path deep = folder.path() / std::string(60, 'x');
  CHECK(DevicePlugin::start(fixture.pool, fixture.kubelet(deep, Mode::legacy)).error().code() ==
        Code::invalid);
  fixture.pool.set_devices({{"a"}, {"a"}});
  CHECK(DevicePlugin::start(fixture.pool, fixture.kubelet(folder.path(), Mode::legacy))
            .error()
            .text() == "device id \"a\" is listed twice");
}

TEST_CASE("a container gets all that its allocation says") {
  RegisteredFixture fixture;
  fixture.pool.set_allocation({.envs = {{"A", "1"}},
                               .mounts = {{"/in", "/host", true}},
                               .devices = {{"/dev/in", "/dev/host", "rw"}},
                               .annotations = {{"k", "v"}},
                               .cdi_devices = {"example.com/vf=a"}});
  const auto given = fixture.kubelet_model.allocate(kResource, {"x"}).value();
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
  RegisteredFixture fixture;
  const auto refused = fixture.kubelet_model.allocate(kResource, {"gone"});
  CHECK(refused.error().code() == Code::not_found);
  CHECK(refused.error().text() == "no such device");
  CHECK(fixture.kubelet_model.prefer(kResource, {"a", "b", "c"}, {"b"}, 2).value() ==
        DeviceIds{"b", "c"});
  CHECK(fixture.kubelet_model.prefer(kResource, {"a"}, {}, -1).error().code() == Code::invalid);
  CHECK(fixture.kubelet_model.pre_start(kResource, {"a"}));
  CHECK(fixture.kubelet_model.pre_start(kResource, {"gone"}).error().code() == Code::unavailable);
}

TEST_CASE("a plugin that stops sends no list, and leaves no socket behind") {
  for (const Mode mode : {Mode::watcher, Mode::legacy}) {
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), mode);
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
  RegisteredFixture fixture;
  std::atomic<bool> over = false;
  std::atomic<int> answered = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&] {
      while (!over && fixture.kubelet_model.allocate(kResource, {"a"})) ++answered;
    });
  }
  std::thread publisher([&] {
    for (int i = 0; !over; ++i) {
      fixture.pool.set_devices({{std::to_string(i)}});
      if (!fixture.plugin->publish()) return;
    }
  });
  CHECK(fixture.kubelet_model.await(kResource, [&](const PluginSeen& seen) {
    return seen.list_sizes.size() > 20 && answered > 0;
  }));
  fixture.plugin->stop();
  over = true;
  for (std::thread& asker : askers) asker.join();
  publisher.join();
  CHECK(answered > 0);
  for (const size_t size : fixture.kubelet_model.seen(kResource).list_sizes) CHECK(size > 0);
}

TEST_CASE("a plugin that stops does not wait for a kubelet that does not answer") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "device-plugins");
  // It listens and never says a word.
  const Fd mute = rpc::unix_socket().value();
  const auto address = rpc::unix_address(folder.path() / "device-plugins/kubelet.sock").value();
  REQUIRE(::bind(mute.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(mute.get(), 1) == 0);
  PluginFixture fixture;
  const auto plugin = fixture.start(folder.path(), Mode::legacy);
  REQUIRE(fixture.reports.await([](const Registration& now) { return now.attempts == 1; }));
  plugin->stop();
  CHECK_FALSE(plugin->registration().registered);
}

TEST_CASE("streams of kubelets that hang up are gone") {
  RegisteredFixture fixture;
  for (int i = 0; i < 5; ++i) {
    const int now = fixture.kubelet_model.seen(kResource).registrations;
    fixture.kubelet_model.hang_up(kResource);
    REQUIRE(fixture.kubelet_model.await(kResource, registered(now + 1)));
    REQUIRE(fixture.await_registered());
  }
  fixture.pool.set_devices({{"a"}});
  CHECK(fixture.plugin->publish());
  CHECK(fixture.await_devices({{"a"}}));
}

}  // namespace
}  // namespace ibpod::kube
