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

  // At Allocate: the devices are in some pod's hands from now on, before anybody else knows of it,
  // and have their device-info files when this returns. Never waits for CDI files, of which there
  // may be many: the kubelet admits no other pod meanwhile.
  Status grant(const std::vector<snapshot::PoolDeviceRef>& devices);
  // At PreStart, before a container that was given the device under `resource`: `now` has the
  // device's nodes of this moment. With CDI its file says so from here on. Without, unavailable
  // where the container was allowed other nodes at Allocate, or nobody knows which.
  Status pre_start(const std::string& resource, const device_plugin::Pool& pool,
                   const device_plugin::PoolDevice& now);

  // Each offered device that nobody has gets its CDI file as the view has it; where one is offered
  // no longer, tidy_cdi(). The file of a device that a pod has is start()'s alone. Files of
  // offers that are the same in `before` stay as they are: each is written once more before a
  // container starts. Without `before` all are compared.
  Status refresh(const snapshot::Snapshot& now, const snapshot::Snapshot* before = nullptr);
  // CDI files of devices that are offered no longer go. An error where another program's file names
  // one of ours, which makes both unusable.
  Status tidy_cdi(const snapshot::Snapshot& now);
  // Device-info files of devices that nobody has any more go. `pods`: the kubelet's, none empty: it
  // has said nothing, and nothing is done.
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
  // Under which any file may be; nothing: nobody has looked yet. Guarded by mutex_.
  std::optional<std::set<std::string>> resources_;
};

}  // namespace ibpod::agent::kubelet
