// DeviceFiles: the files that tell container runtimes (CDI) and Multus (device-info) of devices,
// kept in step with what is offered and with who has what.
//
// All calls are for any thread. What the kubelet asks for on a thread of gRPC's wins over a look
// that began earlier and read the device as it was then: a CDI file with nodes of that time would
// open another pod's device to the container.
#pragma once

#include "agent/config/config.h"
#include "agent/gc/evidence.h"
#include "agent/snapshot/snapshot.h"
#include "device-plugin/cdi.h"
#include "device-plugin/pool.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::agent::kubelet {

class DeviceFiles {
 public:
  explicit DeviceFiles(const config::Config& config);

  const Path& device_info_folder() const { return device_info_; }

  // At Allocate: the devices count as in use from now on, before any record names their pod, and
  // have their device-info files when this returns. Never waits for CDI files, of which there may
  // be many: the kubelet admits no other pod meanwhile.
  Status grant(const std::vector<snapshot::PoolDeviceRef>& devices);
  // At PreStart, before a container that was given the device under `resource`: `now` has the
  // device's present nodes. With CDI, writes them to the device's file. Without CDI, unavailable if
  // the container was allowed other nodes at Allocate, or it is unknown which.
  Status pre_start(const std::string& resource, const device_plugin::Pool& pool,
                   const device_plugin::PoolDevice& now);

  // Writes the CDI file of each offered device that no pod has, from the snapshot; if a device is
  // offered no longer, calls tidy_cdi(). Only pre_start() writes the file of a device that a pod
  // has. Files of devices that are the same in `before` stay as they are: each is written once more
  // before a container starts. Without `before` all are compared.
  Status refresh(const snapshot::Snapshot& now, const snapshot::Snapshot* before = nullptr);
  // CDI files of devices that are offered no longer go. An error where another program's file names
  // one of ours, which makes both unusable.
  Status tidy_cdi(const snapshot::Snapshot& now);
  // Removes the device-info files of devices that no pod has any more. `pods`: the kubelet's list;
  // if it is empty, the kubelet has reported nothing, and nothing is removed.
  Status tidy(const snapshot::Snapshot& snapshot, const std::vector<gc::PodDevices>& pods);

 private:
  // With mutex_ held.
  void mark_granted(const std::string& id) { granted_[id] = std::chrono::steady_clock::now(); }
  std::set<ib::PciAddress> in_use(const snapshot::Snapshot& snapshot,
                                  const std::vector<gc::PodDevices>& pods);
  Status read_resources();

  // Takes mutex_ for a moment: whose files are not to be touched. With cdi_mutex_ held.
  std::set<ib::PciAddress> devices_in_use(const snapshot::Snapshot& now);

  Status check_nodes(const std::string& resource, const device_plugin::Pool& pool,
                     const device_plugin::PoolDevice& now) const;

  Path device_info_;
  device_plugin::CdiFolder cdi_;
  bool with_cdi_;
  // Over the CDI files, and over finding out which of them are not to be touched. Before mutex_.
  std::mutex cdi_mutex_;
  // Over the device-info files, and over finding out which of them are to stay.
  std::mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> granted_;  // guarded by mutex_
  // The resources that files may be under; nothing: not read yet. Guarded by mutex_.
  std::optional<std::set<std::string>> resources_;
};

}  // namespace ibpod::agent::kubelet
