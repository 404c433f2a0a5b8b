// AgentFixture: a node for an agent: a synthetic sysfs, a modelled kubelet, folders of its own, and
// the configuration that names them.
#pragma once

#include "lib/base/files.h"
#include "tests/support/fake_kubelet.h"
#include "tests/support/fake_sysfs.h"
#include "tests/support/run_tests.h"
#include "tests/support/uevent.h"

#include <string>

namespace ibpod::agent {

// True if this process can announce devices. If it cannot, the test case is skipped.
inline bool may_announce() {
  const Status may = announce_device("/devices/none");
  if (!may) skip_case("only root can announce devices: " + may.error().text());
  return may.ok();
}

struct AgentFixture {
  explicit AgentFixture(bool plugin_watcher = true) : kubelet(plugin_watcher) {
    for (const char* name : {"state", "bin", "devinfo", "cdi"})
      std::filesystem::create_directory(folder.path() / name);
  }

  Path configuration() const { return folder.path() / "agent.json"; }
  Path socket() const { return folder.path() / "agent.sock"; }
  Path state() const { return folder.path() / "state"; }

  // Replaces the configuration. `pools`: the elements of resourceList.
  void configure(const std::string& pools) const {
    const std::string at = folder.path().string();
    const std::string text =
        R"({"kubeletRoot": ")" + kubelet.root().string() + R"(", "sysfsDir": ")" +
        tree.root().string() + R"(", "agentSocket": ")" + socket().string() +
        R"(", "metricsAddress": "unix:)" + at + R"(/metrics.sock", "stateDir": ")" +
        state().string() + R"(", "cniBinDir": ")" + at + R"(/bin", "deviceInfoDir": ")" + at +
        R"(/devinfo", "cdiDir": ")" + at + R"(/cdi", "hostMountNamespace": "", )" +
        R"("rdmaNetns": "keep", "logLevel": "error", "resourcePrefix": "example.com", )" +
        R"("resourceList": [)" + pools + "]}";
    write(text);
  }
  // Writes any text as the configuration.
  void write(const std::string& text) const {
    if (!write_file_atomically(configuration(), text)) std::abort();
  }
  // Sends an event to all listeners: something about a function has changed.
  Status announce(const ib::PciAddress& function) const {
    return announce_device("/devices/pci0000:10/" + function.text());
  }

  fake::FakeSysfs tree{2};
  FakeKubelet kubelet;
  TempFolder folder;
};

}  // namespace ibpod::agent
