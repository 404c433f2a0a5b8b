// Pools that choose the same VFs of a PF.
#pragma once

#include "device-plugin/pool.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

// A sentence for each pair of selectors of two pools that choose VFs of one PF by number, share
// one, and are not told apart by vendor, device or driver. The first pool takes such a VF.
std::vector<std::string> overlaps(const std::vector<Pool>& pools);

}  // namespace ibpod::device_plugin
