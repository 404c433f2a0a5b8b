// What a network of type "ib-sriov" is configured with. Keys and types are those of ib-sriov-cni,
// and ours; docs/configuration.md tells what each one means.
#pragma once

#include "lib/attach/keys.h"
#include "lib/attach/vf_driver.h"
#include "lib/base/result.h"
#include "lib/cni/request.h"

namespace ibpod::ib_sriov {

struct Config : attach::Settings {
  using Settings::Settings;

  attach::VfConfig vf;
  // resourceName: of which the node's agent knows what the kubelet gave a pod; for a runtime that
  // names no deviceID. Empty: none.
  std::string resource;
  std::string guid_key;                   // the key that asks for a GUID; empty: none does
  bool ib_kubernetes = false;             // ibKubernetesEnabled
  bool ib_kubernetes_configured = false;  // … and it has said so for this pod
};

// invalid names key, value and what would be right; unsupported is for values that are right for
// others ("dhcp"). The device, or the resource that it is one of, is required for ADD and CHECK
// only: GC and STATUS speak of the network.
Result<Config> parse_config(const cni::Call& call, const cni::Network& network,
                            const attach::NodeConfig& node);

// What can be read of a configuration that may be wrong: device, time-out, state folder and log.
// Each that cannot is a warning, and has its default. For the log of a call that is refused, and
// for DEL, which has to work whatever has become of the configuration since.
Config parse_lenient(const cni::Call& call, const json::Value& document,
                     const attach::NodeConfig& node);

}  // namespace ibpod::ib_sriov
