// What differs between two inventories, in words for a log.
#pragma once

#include "device-plugin/device.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

// One line a fact: "0000:3b:00.2: port 1 of mlx5_2: ACTIVE -> DOWN". Both sorted by address, as
// read_inventory() answers. None: nothing worth a line has changed.
std::vector<std::string> describe_changes(const std::vector<Device>& before,
                                          const std::vector<Device>& after);

}  // namespace ibpod::device_plugin
