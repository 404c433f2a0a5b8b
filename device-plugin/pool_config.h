// Reads the pools of a configuration: sriov-network-device-plugin's "resourceList" as it is, and
// our keys beside its own (docs/device-plugin.md has all of them):
//   isolation, ignoreLink, cdi      true or false
//   policy                          packed, spread or numa
//   deviceNodes                     a list of uverbs, rdma_cm, umad, issm
//   deviceType                      ipoibTicket beside the peer's, with tickets: how many of each
//   HCA selectors: linkStates, guidValid, rails; pKeys by number
#pragma once

#include "device-plugin/pool.h"
#include "lib/base/result.h"
#include "lib/json/value.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct PoolConfig {
  std::vector<Pool> pools;  // in the order in which they take devices
  // What does not apply here, or means something else to the peer: "PATH: text".
  std::vector<std::string> warnings;
};

// `list` is the value of resourceList. `default_prefix` is for pools that have no resourcePrefix.
// invalid names path, value and what would be right; nothing of such a configuration is to be used.
Result<PoolConfig> parse_pools(const json::Value& list, const std::string& default_prefix);

}  // namespace ibpod::device_plugin
