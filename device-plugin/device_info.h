// Device-info files: they describe a device that a pod was given to Multus and CNI plugins (Device
// Information Specification 1.1.0). Written at Allocate; a file stays, over restarts too, while a
// pod has the device, as the kubelet does not call Allocate for it again.
#pragma once

#include "device-plugin/device_nodes.h"
#include "device-plugin/pool.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::device_plugin {

// <folder>/example.com-ib_vfs-0000:3b:00.2-device.json: where Multus looks, by
// sriov-network-device- plugin's rule. The folder is /var/run/k8s.cni.cncf.io/devinfo/dp on a node.
Path device_info_file(const Path& folder, const std::string& resource, const std::string& id);

// Writes the file, and the folder if need be. Beside the specification's members it keeps the
// resource and the nodes of this moment. Files of ours by which the device was given out under
// another one of the `resources` go first: it is in one pool at a time. A ticket has no such file:
// success.
Status write_allocated(const Path& folder, const Pool& pool, const PoolDevice& pool_device,
                       const std::set<std::string>& resources);

// The nodes that were granted with the device; nothing where there is no file of ours.
Result<std::optional<std::vector<std::string>>> granted_nodes(const Path& folder,
                                                              const std::string& resource,
                                                              const std::string& id);

// Which devices were given out under which resource, by the files of ours. What is damaged, or
// another program's, is left out.
Result<Allocated> read_allocated(const Path& folder);
// All resources under which any device was given out. An error where a file cannot be read.
Result<std::set<std::string>> allocated_resources(const Path& folder);

// Removes the files of a resource, but not those of devices that a record or a pod has.
Status tidy_device_info(const Path& folder, const std::string& resource,
                        const std::set<ib::PciAddress>& in_use);

}  // namespace ibpod::device_plugin
