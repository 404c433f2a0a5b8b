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
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    const PluginSeen seen = kubelet.seen(kResource);
    CHECK(seen.options.pre_start);
    CHECK(seen.options.prefers);
    CHECK(seen.devices == bed.pool.devices());
    REQUIRE(bed.await_registered());
    CHECK(plugin->registration().attempts == 1);
    CHECK(plugin->registration().mode == mode);
    CHECK_FALSE(plugin->registration().last_error);
    CHECK(path_exists(socket_in(kubelet.root(), mode)));
  }
}

TEST_CASE("of itself, a plugin takes the watcher where the kubelet has one") {
  for (const Mode mode : kModes) {
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), Mode::automatic);
    REQUIRE(kubelet.await(kResource, registered(1)));
    CHECK(plugin->registration().mode == mode);
  }
}

TEST_CASE("a kubelet that restarts finds the resource again") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    REQUIRE(bed.await_registered());
    for (int restarts = 0; restarts < 3; ++restarts) {
      const PluginSeen before = kubelet.seen(kResource);
      kubelet.stop();
      REQUIRE(bed.reports.await([](const Registration& report) { return !report.registered; }));
      kubelet.start();
      REQUIRE(kubelet.await(kResource, registered(before.registrations + 1)));
      REQUIRE(bed.await_registered());
      CHECK(kubelet.await(kResource, [&](const PluginSeen& seen) {
        return seen.list_sizes.size() > before.list_sizes.size() &&
               seen.devices == bed.pool.devices();
      }));
    }
  }
}

TEST_CASE("a kubelet that is not there yet is waited for") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    kubelet.stop();
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), mode);
    REQUIRE(bed.reports.await([](const Registration& now) { return now.attempts >= 1; }));
    kubelet.start();
    CHECK(kubelet.await(kResource, registered(1)));
  }
}

TEST_CASE("a kubelet without its folders is waited for too") {
  const TempFolder folder;
  PluginBed bed;
  const auto plugin = bed.start(folder.path() / "kubelet", Mode::automatic);
  REQUIRE(bed.reports.await([](const Registration& now) { return now.attempts >= 3; }));
  CHECK(plugin->registration().last_error->code() == Code::not_found);
  CHECK(plugin->registration().mode == Mode::legacy);
}

TEST_CASE("a resource that is refused is offered again, until it is taken") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    kubelet.refuse(3);
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    REQUIRE(bed.await_registered());
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
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    REQUIRE(bed.await_registered());
    kubelet.hang_up(kResource);
    CHECK(kubelet.await(kResource, registered(2)));
    CHECK(bed.await_registered());
  }
}

TEST_CASE("a socket that somebody removes is made again") {
  for (const Mode mode : kModes) {
    CAPTURE(name(mode));
    FakeKubelet kubelet(mode == Mode::watcher);
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), mode);
    REQUIRE(kubelet.await(kResource, registered(1)));
    REQUIRE(bed.await_registered());
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
    PluginBed bed;
    const auto plugin = bed.start(kubelet.root(), mode);
    CHECK(kubelet.await(kResource, registered(1)));
  }
}

TEST_CASE("a kubelet that says nothing is offered the resource anew after a while") {
  FakeKubelet kubelet(true);
  kubelet.stop();
  PluginBed bed;
  Kubelet hurried = bed.kubelet(kubelet.root(), Mode::watcher);
  hurried.pace.quiet = Duration(5);
  const auto plugin = DevicePlugin::start(bed.pool, hurried).value();
  CHECK(bed.reports.await([](const Registration& now) { return now.attempts >= 3; }));
  CHECK_FALSE(plugin->registration().registered);
}

TEST_CASE("two plugins of one resource do not take the socket from each other") {
  FakeKubelet kubelet(true);
  PluginBed bed;
  const auto first = bed.start(kubelet.root(), Mode::watcher);
  REQUIRE(bed.await_registered());
  PluginBed other;
  auto second = other.start(kubelet.root(), Mode::watcher);
  REQUIRE(other.reports.await([](const Registration& now) { return now.attempts >= 2; }));
  CHECK(second->registration().last_error->code() == Code::busy);
  second.reset();
  CHECK(path_exists(socket_in(kubelet.root(), Mode::watcher)));
  CHECK(first->registration().registered);
}

}  // namespace
}  // namespace ibpod::kube
