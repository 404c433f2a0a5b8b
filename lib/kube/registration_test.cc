// How a plugin comes to be registered, and registered again, in both modes.
#include "lib/kube/registration.h"

#include "lib/kube/test_pool.h"
#include "lib/rpc/unix_address.h"

#include <array>

#include <doctest/doctest.h>
#include <sys/socket.h>

namespace ibpod::kube {
namespace {

constexpr std::array kModes{Mode::watcher, Mode::legacy};

Path socket_in(const Path& root, Mode mode) {
  return root / (mode == Mode::watcher ? "plugins_registry" : "device-plugins") /
         "example.com_ib_vf.sock";
}

TEST_CASE("the kubelet learns of a resource: its options, and its devices") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    const PluginSeen seen = kubelet.seen(kResource);
    CHECK(seen.options.pre_start);
    CHECK(seen.options.prefers);
    CHECK(seen.devices == fixture.pool.devices());
    REQUIRE(fixture.await_registered());
    CHECK(plugin->registration().attempts == 1);
    CHECK(plugin->registration().mode == mode);
    CHECK_FALSE(plugin->registration().last_error);
    CHECK(path_exists(socket_in(kubelet.root(), mode)));
  }
}

TEST_CASE("of itself, a plugin takes the watcher where the kubelet has one") {
  for (const Mode mode : kModes) {
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), Mode::automatic);
    REQUIRE(kubelet.await(kResource, registered(1)));
    CHECK(plugin->registration().mode == mode);
  }
}

TEST_CASE("a kubelet that restarts finds the resource again") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    REQUIRE(fixture.await_registered());
    for (int restarts = 0; restarts < 3; ++restarts) {
      const PluginSeen before = kubelet.seen(kResource);
      kubelet.stop();
      REQUIRE(fixture.reports.await([](const Registration& report) { return !report.registered; }));
      kubelet.start();
      REQUIRE(kubelet.await(kResource, registered(before.registrations + 1)));
      REQUIRE(fixture.await_registered());
      CHECK(kubelet.await(kResource, [&](const PluginSeen& seen) {
        return seen.list_sizes.size() > before.list_sizes.size() &&
               seen.devices == fixture.pool.devices();
      }));
    }
  }
}

TEST_CASE("a kubelet that is not there yet is waited for") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    kubelet.stop();
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), mode);
    REQUIRE(fixture.reports.await([](const Registration& now) { return now.attempts >= 1; }));
    kubelet.start();
    CHECK(kubelet.await(kResource, registered(1)));
  }
}

TEST_CASE("a kubelet without its folders is waited for too") {
  const TempFolder folder;
  PluginFixture fixture;
  const auto plugin = fixture.start(folder.path() / "kubelet", Mode::automatic);
  REQUIRE(fixture.reports.await([](const Registration& now) { return now.attempts >= 3; }));
  CHECK(plugin->registration().last_error->code() == Code::not_found);
  CHECK(plugin->registration().mode == Mode::legacy);
}

TEST_CASE("a resource that is refused is offered again, until it is taken") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    kubelet.refuse(3);
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    REQUIRE(fixture.await_registered());
    CHECK(plugin->registration().attempts == 4);
    REQUIRE(plugin->registration().last_error);
    CHECK(plugin->registration().last_error->text().find("refused by the test") !=
          std::string::npos);
  }
}

TEST_CASE("a kubelet that hangs up is called again") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    REQUIRE(fixture.await_registered());
    kubelet.hang_up(kResource);
    CHECK(kubelet.await(kResource, registered(2)));
    CHECK(fixture.await_registered());
  }
}

TEST_CASE("a socket that another process removes is made again") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    REQUIRE(fixture.await_registered());
    std::filesystem::remove(socket_in(kubelet.root(), mode));
    CHECK(kubelet.await(kResource, registered(2)));
    CHECK(path_exists(socket_in(kubelet.root(), mode)));
  }
}

TEST_CASE("a socket that a plugin left behind when it died is replaced") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    const Fd stale = rpc::unix_socket().value();
    const auto address = rpc::unix_address(socket_in(kubelet.root(), mode)).value();
    REQUIRE(::bind(stale.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    PluginFixture fixture;
    const auto plugin = fixture.start(kubelet.root(), mode);
    CHECK(kubelet.await(kResource, registered(1)));
  }
}

TEST_CASE("the plugin registers again with a kubelet that does not answer for a while") {
  FakeKubelet kubelet(true);
  kubelet.stop();
  PluginFixture fixture;
  KubeletOptions hurried = fixture.kubelet(kubelet.root(), Mode::watcher);
  hurried.retry.quiet = Duration(5);
  const auto plugin = DevicePlugin::start(fixture.pool, hurried).value();
  CHECK(fixture.reports.await([](const Registration& now) { return now.attempts >= 3; }));
  CHECK_FALSE(plugin->registration().registered);
}

TEST_CASE("two plugins of one resource do not take the socket from each other") {
  FakeKubelet kubelet(true);
  PluginFixture fixture;
  const auto first = fixture.start(kubelet.root(), Mode::watcher);
  REQUIRE(fixture.await_registered());
  PluginFixture other;
  auto second = other.start(kubelet.root(), Mode::watcher);
  REQUIRE(other.reports.await([](const Registration& now) { return now.attempts >= 2; }));
  CHECK(second->registration().last_error->code() == Code::busy);
  second.reset();
  CHECK(path_exists(socket_in(kubelet.root(), Mode::watcher)));
  CHECK(first->registration().registered);
}

}  // namespace
}  // namespace ibpod::kube
