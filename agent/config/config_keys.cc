#include "agent/config/config_keys.h"

#include "agent/config/config_values.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace ibpod::agent {
namespace {

// A slip of the hand changes this many letters at most.
constexpr size_t kSlip = 3;

template <typename T>
bool equal(const T& a, const T& b) {
  return a == b;
}
bool equal(const json::Value& a, const json::Value& b) { return a.text() == b.text(); }

template <typename T>
Key key(std::string_view name, Effect effect, T Config::*member,
        Result<T> (*read)(const json::Value&)) {
  return {name, effect,
          [member, read](const json::Value& value, Config& config) -> Status {
            config.*member = TRY(read(value));
            return ok();
          },
          [member](const Config& a, const Config& b) { return equal(a.*member, b.*member); }};
}

// How many letters have to be put in, taken out or changed; case does not count.
size_t distance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t n = 0; n < from.size(); ++n) {
    size_t diagonal = std::exchange(row[0], n + 1);
    for (size_t m = 0; m < to.size(); ++m) {
      const bool same = std::tolower(static_cast<unsigned char>(from[n])) ==
                        std::tolower(static_cast<unsigned char>(to[m]));
      const size_t changed = diagonal + (same ? 0 : 1);
      diagonal = row[m + 1];
      row[m + 1] = std::min({changed, row[m] + 1, row[m + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

const std::vector<Key>& config_keys() {
  using enum Effect;
  static const std::vector<Key> keys = {
      key("kubelet", restart, &Config::kubelet, read_boolean),
      key("kubeletRoot", restart, &Config::kubelet_root, read_path),
      key("registration", restart, &Config::registration, read_registration),
      key("podResourcesSocket", restart, &Config::pod_resources_socket, read_socket_path),
      key("runtimeSocket", restart, &Config::runtime_socket, read_optional_socket_path),
      key("agentSocket", restart, &Config::agent_socket, read_socket_path),
      key("metricsAddress", restart, &Config::metrics_address, read_address),
      key("stateDir", restart, &Config::state_folder, read_path),
      key("cniBinDir", restart, &Config::cni_folder, read_path),
      key("deviceInfoDir", restart, &Config::device_info_folder, read_path),
      key("cdi", restart, &Config::cdi, read_boolean),
      key("cdiDir", restart, &Config::cdi_folder, read_path),
      key("sysfsDir", restart, &Config::sysfs, read_path),
      key("hostMountNamespace", restart, &Config::host_mount_namespace, read_optional_path),
      key("fabrics", restart, &Config::fabrics, read_fabrics),
      key("standalone", at_once, &Config::standalone, read_standalone),
      key("rdmaNetns", at_once, &Config::rdma_netns, read_rdma_netns),
      key("sweepSeconds", at_once, &Config::sweep_interval, read_interval),
      key("logLevel", at_once, &Config::log_level, read_level),
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

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
  std::string_view best;
  // Half of a short name is no slip; and what is long is not worth comparing.
  size_t least = std::min(kSlip, name.size() / 2) + 1;
  if (name.size() > 64) return best;
  for (const std::string_view candidate : known) {
    const size_t far = distance(name, candidate);
    if (far < least) best = candidate;
    least = std::min(least, far);
  }
  return best;
}

}  // namespace ibpod::agent
