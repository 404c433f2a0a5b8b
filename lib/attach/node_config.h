// NodeConfig: the node administrator's configuration of the plugins, from a file. Tenants write
// networks, and do not control it.
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
// An environment variable that a runtime or the agent sets, never a tenant: overrides stateDir.
inline constexpr std::string_view kStateVariable = "IBPOD_STATE_DIR";
// An environment variable of IPAM calls: a plugin of ours that finds it set was named as an IPAM
// plugin, perhaps by another plugin, and refuses.
inline constexpr std::string_view kCalledAsIpam = "IBPOD_CALLED_AS_IPAM";
// Multus's folder with a device-info file for each attachment.
inline constexpr std::string_view kDeviceInfoFolder = "/var/run/k8s.cni.cncf.io/devinfo/cni";

struct NodeConfig {
  Path state_folder{kStateFolder};  // stateDir
  Path agent_socket;                // agentSocket; empty: not set
  Path log_file;                    // logFile; empty: none
  log::Level log_level = log::Level::info;
  // deviceInfoDir: the only folder whose files runtimeConfig.CNIDeviceInfoFile may name.
  Path device_info_folder{kDeviceInfoFolder};
  // ipamTypes: the IPAM plugins that networks may name; nothing: all in CNI_PATH.
  std::optional<std::vector<std::string>> ipam_types;
  // devices: "any" lets a network name a device that the kubelet has not given to its pod;
  // "allocated" does not (agent_client.h).
  bool any_device = false;
  // masterVfs: VFs of the host that any network may name as the master of IPoIB children. Any other
  // VF belongs to one pod only: it is not visible whether another device plugin has it.
  std::vector<ib::PciAddress> master_vfs;
  // allowInNetworks: networks may also set stateDir, agentSocket, logFile and logLevel.
  bool allow_in_networks = false;
};

// The defaults if there is no such file. denied if other users than root can write to it or to its
// folder; invalid, naming key, value and correct form.
Result<NodeConfig> read_node_config(const Path& file);

}  // namespace ibpod::attach
