// The RDMA devices of one function, as one namespace's sysfs shows them.
#pragma once

#include "device-plugin/device.h"
#include "lib/sysfs/sysfs.h"

#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct RdmaDevices {
  std::vector<RdmaDevice> devices;  // those with verbs first
  std::string link_type;            // of the first one's first port; empty: it does not say
};

// Decides if P_Key tables are read: they are nine tenths of all files, and each of them queries an
// mlx5's firmware.
enum class PkeyTables { read, skip };

// `function` has address and character devices filled in. `known` is what was read of the same
// function before, or nullptr: the P_Key table of a port whose GUID, LID and state are still the
// same is taken from there. A port that cannot be read is one of unknown state; unavailable where
// the devices change their names all the while.
Result<RdmaDevices> read_rdma(const sysfs::Sysfs& sysfs, const Device& function,
                              const Device* known, PkeyTables tables);

// Reads the ports of a function again, of RDMA devices that this sysfs shows, tables and all.
void reread_ports(const sysfs::Sysfs& sysfs, PkeyTables tables, Device& function);

}  // namespace ibpod::device_plugin
