#include "agent/config/config_keys.h"

#include "agent/config/config_values.h"
#include "lib/json/read.h"

namespace ibpod::agent::config {
namespace {

template <typename T>
bool equal(const T& a, const T& b) {
  return a == b;
}
bool equal(const json::Value& a, const json::Value& b) { return a.text() == b.text(); }

template <typename T>
Key key(std::string_view name, Effect effect, T Config::*member,
        Result<T> (*read)(const json::Value&) = json::read<T>) {
  return {name, effect,
          [member, read](const json::Value& value, Config& config) -> Status {
            config.*member = TRY(read(value));
            return ok();
          },
          [member](const Config& a, const Config& b) { return equal(a.*member, b.*member); }};
}

}  // namespace

const std::vector<Key>& config_keys() {
  using enum Effect;
  static const std::vector<Key> keys = {
      key("kubelet", restart, &Config::kubelet),
      key("kubeletRoot", restart, &Config::kubelet_root),
      key("registration", restart, &Config::registration),
      key("podResourcesSocket", restart, &Config::pod_resources_socket, read_socket_path),
      key("runtimeSocket", restart, &Config::runtime_socket, read_optional_socket_path),
      key("agentSocket", restart, &Config::agent_socket, read_socket_path),
      key("metricsAddress", restart, &Config::metrics_address),
      key("stateDir", restart, &Config::state_folder),
      key("cniBinDir", restart, &Config::cni_folder),
      key("deviceInfoDir", restart, &Config::device_info_folder),
      key("cdi", restart, &Config::cdi),
      key("cdiDir", restart, &Config::cdi_folder),
      key("sysfsDir", restart, &Config::sysfs),
      key("hostMountNamespace", restart, &Config::host_mount_namespace, read_optional_path),
      key("fabrics", restart, &Config::fabrics, read_fabrics),
      key("standalone", at_once, &Config::standalone, read_permission),
      key("withoutPartition", at_once, &Config::without_partition, read_permission),
      key("rdmaNetns", at_once, &Config::rdma_netns, read_rdma_netns),
      key("sweepSeconds", at_once, &Config::sweep_interval, read_interval),
      key("logLevel", at_once, &Config::log_level),
      key("logFile", restart, &Config::log_file, read_optional_path),
      key("pfs", at_once, &Config::pfs, read_objects),
      key("resourcePrefix", at_once, &Config::resource_prefix, read_prefix),
      key("resourceList", at_once, &Config::resource_list, read_objects),
  };
  return keys;
}

const Key* find_key(std::string_view name) {
  for (const Key& key : config_keys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

}  // namespace ibpod::agent::config
