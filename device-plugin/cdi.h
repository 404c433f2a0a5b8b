// CDI files: one for each device, which tells the container runtime the device's nodes (Container
// Device Interface specification). A node that is renumbered between Allocate and the start of the
// container is corrected by writing the file again in between: the runtime reads it last.
#pragma once

#include "device-plugin/device_nodes.h"
#include "device-plugin/pool.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <set>
#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct CdiFolder {
  Path path;  // such as /var/run/cdi; must exist
  // The prefix of our files' names: "ibpod-0000:3b:00.2.json". Other programs that share the folder
  // must not have files with this prefix and a PCI address after it.
  std::string owner = "ibpod";
  // Other folders that the runtime reads (/etc/cdi), and the mount namespace in which it does
  // (lib/base/run_on_thread.h; empty: our own). So a container needs no mounts of them, which
  // would create the folders on nodes that have none.
  std::vector<Path> other_folders = {};
  Path other_folders_mount_namespace = {};
};

// "example.com/ib=0000:3b:00.2"; empty where a device is given without CDI: its pool does not want
// it, or there are no nodes to give (a CDI device without edits is refused by runtimes).
std::string cdi_name(const Pool& pool, const PoolDevice& pool_device);

// Writes the device's file as the device is now, or leaves it if it says so already; removes it
// where the device has no CDI name. To be called when a device is offered, and again in
// PreStartContainer.
Status refresh_cdi(const CdiFolder& folder, const Pool& pool, const PoolDevice& pool_device);

// Removes our files of devices that are neither in `stocks` nor in use. Then looks at the files of
// others: two that name one device make it unusable (the runtime resolves neither), so one that
// names a device of ours is `exists` with its path and the device. All folders are looked through;
// all failures are told.
Status tidy_cdi(const CdiFolder& folder, const std::vector<PoolContents>& all_contents,
                const std::set<ib::PciAddress>& in_use = {});

// Without CDI: compares the nodes that a container was allowed at Allocate with those that the
// device has now. unavailable, naming both, if they differ.
Status compare_nodes(const std::string& device, const std::vector<std::string>& granted,
                     const std::vector<DeviceNode>& present);

}  // namespace ibpod::device_plugin
