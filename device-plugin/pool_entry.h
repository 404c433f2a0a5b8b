// Reads one pool of the configuration.
#pragma once

#include "device-plugin/pool.h"
#include "lib/base/result.h"
#include "lib/json/value.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

// `object` is {"resourceName": "ib_vfs", …}. invalid names path, value and what would be right;
// what does not apply here, or means something else to the peer, is a warning.
Result<Pool> parse_pool(const json::Value& object, const std::string& default_prefix,
                        std::vector<std::string>& warnings);

}  // namespace ibpod::device_plugin
