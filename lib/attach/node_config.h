// NodeConfig: what the administrator of a node configures its plugins with, in a file. What a
// network says is written by a tenant, and decides none of it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/ib/pci_address.h"
#include "lib/log/log.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::attach {

inline constexpr std::string_view kStateFolder = "/var/lib/ibpod";
inline constexpr std::string_view kAgentSocket = "/run/ibpod/agent.sock";
inline constexpr std::string_view kNodeConfigFile = "/etc/ibpod/cni.json";
// A variable of a call's environment, which a runtime or the agent sets and no tenant: goes before
// stateDir.
inline constexpr std::string_view kStateVariable = "IBPOD_STATE_DIR";
// A variable of the environment in which an IPAM plugin is called: a plugin of ours that finds it
// was named as IPAM plugin, perhaps by way of another one, and refuses.
inline constexpr std::string_view kCalledAsIpam = "IBPOD_CALLED_AS_IPAM";
// There Multus keeps what is known of the device of each attachment.
inline constexpr std::string_view kDeviceInfoFolder = "/var/run/k8s.cni.cncf.io/devinfo/cni";

struct NodeConfig {
  Path state_folder{kStateFolder};  // stateDir
  Path agent_socket;                // agentSocket; empty: none is given
  Path log_file;                    // logFile; empty: none
  log::Level log_level = log::Level::info;
  // deviceInfoDir: the only folder whose files runtimeConfig.CNIDeviceInfoFile may name.
  Path device_info_folder{kDeviceInfoFolder};
  // ipamTypes: the IPAM plugins that networks may name; nothing: all that are in CNI_PATH.
  std::optional<std::vector<std::string>> ipam_types;
  // devices: "any" lets a network name a device that the kubelet has not given to its pod;
  // "allocated" does not (agent_client.h).
  bool any_device = false;
  // masterVfs: the VFs that the host keeps, and that any network may name as the master of IPoIB
  // children. Any other VF is its pod's alone: whether a device plugin has it cannot be seen.
  std::vector<ib::PciAddress> master_vfs;
  // allowInNetworks: a network may set stateDir, agentSocket, logFile and logLevel, too.
  bool allow_in_networks = false;
};

// The defaults if there is no such file. denied if others than root can write to it or to its
// folder; invalid, naming the key, the value and what would be right.
Result<NodeConfig> read_node_config(const Path& file);

}  // namespace ibpod::attach
