// The RDMA devices of one function, as one namespace's sysfs shows them.
#pragma once

#include "device-plugin/device.h"
#include "lib/sysfs/sysfs.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct RdmaReading {
  std::vector<RdmaDevice> devices;  // those with verbs first
  std::string link_type;            // of the first one's first port; empty: it does not say
};

// `function` has address and character devices filled in. `known` is what was read of the same
// function before, or nullptr: the P_Key table of a port whose GUID, LID and state are still the
// same is taken from there. A port that cannot be read is one of unknown state; unavailable where
// the devices change their names all the while.
Result<RdmaReading> read_rdma(const sysfs::Sysfs& sysfs, const Device& function,
                              const Device* known);

}  // namespace ibpod::device_plugin
