// Config: what the agent of one node is to do, from the one file that serves a whole DaemonSet.
//
// The file is a JSON object (// and /* */ comments are allowed) that holds settings for every node
// and, under "sections", settings for nodes of certain names. docs/agent-config.md has every key,
// docs/agent-config.schema.json their types. What is unknown is refused; null is as good as
// missing.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/fabricapi/service_address.h"
#include "lib/http/address.h"
#include "lib/json/value.h"
#include "lib/log/log.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::agent::config {

// How the kubelet gets to know of a pool: by itself where it watches a folder, or by being called.
enum class Registration { automatic, watcher, legacy };
Words<Registration> words_of(Registration);

// A fabric that PFs of this node are on, by the SM service that has it.
struct FabricService {
  fabricapi::ServiceAddress sm_address;
  // The first half of its ports' GIDs; nothing: whatever they have, and it is the only one.
  std::optional<ib::Guid> subnet_prefix;
  bool operator==(const FabricService&) const = default;
};

struct Config {
  // The kubelet. Without one nothing is offered, and network namespaces alone say who lives.
  bool kubelet = true;
  Path kubelet_root = "/var/lib/kubelet";
  Registration registration = Registration::automatic;
  Path pod_resources_socket;  // empty: pod-resources/kubelet.sock below kubelet_root
  Path runtime_socket;        // the container runtime's (CRI); empty: it is not asked

  Path agent_socket = "/run/ibpod/agent.sock";
  http::Address metrics_address{.host = "127.0.0.1", .port = 9464, .socket = {}};
  Path state_folder = "/var/lib/ibpod";
  Path cni_folder = "/opt/cni/bin";
  Path device_info_folder = "/var/run/k8s.cni.cncf.io/devinfo/dp";
  bool cdi = true;
  Path cdi_folder = "/var/run/cdi";
  Path sysfs = "/sys";
  Path host_mount_namespace = "/proc/1/ns/mnt";  // empty: our own is the host's

  // Each by another name, and if they are several each with another prefix. Empty: pods are in
  // whatever partitions the subnet manager has their ports in.
  std::vector<FabricService> fabrics;

  // True if CNI plugins may work without the agent. If not, or with an SM service, the state folder
  // has a file that says so.
  bool standalone = true;
  // With fabrics: true if plugins may attach pods of networks that name no partition.
  bool without_partition = false;
  std::string rdma_netns = "exclusive";  // or "shared", or "keep"
  Duration sweep_interval{60'000};
  log::Level log_level = log::Level::info;
  Path log_file;  // empty: standard error only

  json::Value pfs = json::Value::array();            // objects, otherwise as they are in the file
  std::string resource_prefix = "ibpod.io";          // of pools that name none
  json::Value resource_list = json::Value::array();  // objects, otherwise as they are in the file

  // The text of each key that was given, as it applies to this node.
  std::map<std::string, std::string, std::less<>> explicit_keys;

  Path pod_resources() const {
    if (!pod_resources_socket.empty()) return pod_resources_socket;
    return kubelet_root / "pod-resources/kubelet.sock";
  }
};

// Errors and warnings about a file: "sections[1].settings.stateDir: expected …".
struct Findings {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  // Nothing is said twice.
  void error(std::string text);
  void warning(std::string text);
};

// Judges what Config leaves as JSON (pfs, resource_list).
using ConfigCheck = std::function<void(const Config&, Findings&)>;

struct ParsedConfig {
  std::optional<Config> config;  // nothing where there are errors
  Findings findings;             // all of them, of every section
};

// `node` is this node's name, by which sections are chosen; empty: only those for every node.
// Whatever `judge` does not read is taken as it is.
ParsedConfig read_config(std::string_view text, const std::string& node,
                         const ConfigCheck& check = {});

// The errors of a file, for all nodes and the named one: --check-config.
Findings check_config(const Path& file, const std::string& node, const ConfigCheck& check = {});

// denied, with the key's place in the configuration, when others than our user have access to it:
// they could speak for this node. It is used all the same, as a Secret's volume may have it so. A
// key that is missing is no matter of this function.
Status check_private_keys(const Config& config);

}  // namespace ibpod::agent::config
