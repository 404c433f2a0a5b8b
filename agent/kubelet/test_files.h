// A node's files of devices in a folder of their own, for tests.
#pragma once

#include "agent/kubelet/device_files.h"
#include "device-plugin/device_info.h"
#include "tests/support/temp_folder.h"

#include <string>
#include <vector>

namespace ibpod::agent::kubelet {

inline const std::string kResource = "example.com/vfs";

inline device_plugin::Pool test_pool(bool cdi = true, const std::string& name = "vfs") {
  device_plugin::Pool pool;
  pool.prefix = "example.com";
  pool.name = name;
  pool.cdi = cdi;
  return pool;
}

// A snapshot of these devices, all of them healthy.
inline snapshot::Snapshot test_snapshot(const device_plugin::Pool& pool,
                                        const std::vector<device_plugin::Device>& devices) {
  snapshot::Snapshot snapshot;
  snapshot.devices = devices;
  snapshot.pools = {pool};
  snapshot.pool_contents = device_plugin::assign(snapshot.pools, devices);
  return snapshot;
}

struct TestFiles {
  explicit TestFiles(const std::string& socket = "") : files(config(socket)) {}
  config::Config config(const std::string& socket) const {
    config::Config config;
    config.device_info_folder = folder.path() / "devinfo";
    config.cdi_folder = folder.path() / "cdi";
    config.host_mount_namespace = "";
    if (!socket.empty()) config.agent_socket = socket;
    return config;
  }
  std::vector<std::string> infos() const { return names("devinfo"); }
  std::vector<std::string> specs() const { return names("cdi"); }
  std::vector<std::string> names(const std::string& where) const {
    return list_folder(folder.path() / where).value();
  }
  Path spec(const std::string& id) const {
    return folder.path() / "cdi" / ("ibpod-" + id + ".json");
  }
  Path info(const std::string& id) const {
    return device_plugin::device_info_file(folder.path() / "devinfo", kResource, id);
  }
  // True if the runtime gives a container this node with the device.
  bool gives(const std::string& id, const std::string& node) const {
    const auto text = read_file(spec(id));
    return text && text->find("\"/dev/infiniband/" + node + "\"") != std::string::npos;
  }

  TempFolder folder;
  DeviceFiles files;
};

}  // namespace ibpod::agent::kubelet
