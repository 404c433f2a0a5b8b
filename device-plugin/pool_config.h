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
  // Keys that do not apply here, or mean something else to the peer: "PATH: text".
  std::vector<std::string> warnings;
};

// `list` is the value of resourceList. `default_prefix` is for pools that have no resourcePrefix.
// invalid names path, value and what would be right; nothing of such a configuration is to be used.
Result<PoolConfig> parse_pools(const json::Value& list, const std::string& default_prefix);

// A sentence for each pair of selectors of two pools that choose VFs of one PF by number, share
// one, and are not told apart by vendor, device or driver. The first pool takes such a VF.
std::vector<std::string> overlaps(const std::vector<Pool>& pools);

// `object` is {"resourceName": "ib_vfs", …}. invalid names path, value and what would be right;
// what does not apply here, or means something else to the peer, is a warning.
Result<Pool> parse_pool(const json::Value& object, const std::string& default_prefix,
                        std::vector<std::string>& warnings);

}  // namespace ibpod::device_plugin
