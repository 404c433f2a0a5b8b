// Why a device is in the pool it is in, or in none.
#pragma once

#include "device-plugin/pool.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

// The relation of one pool to the device.
struct PoolExplanation {
  std::string resource;
  bool has_device = false;
  // "by selectors[1]", "it is in example.com/a, which comes first", or the first field of every
  // selector that keeps it out, with both values.
  std::string reason;
  bool operator==(const PoolExplanation&) const = default;
};

struct Explanation {
  std::string device;    // its PCI address
  std::string resource;  // of the pool that has it; empty: none has
  // Other facts that decide: the host needs it, it is quarantined, its present owner.
  std::vector<std::string> notes;
  std::vector<PoolExplanation> pools;  // all, in the order in which they take devices
  bool operator==(const Explanation&) const = default;
};

Explanation explain(const std::vector<Pool>& pools, const Device& device,
                    const Allocated& allocated = {});

}  // namespace ibpod::device_plugin
