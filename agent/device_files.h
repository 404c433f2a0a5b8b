// DeviceFiles: the files that tell container runtimes (CDI) and Multus (device-info) of devices,
// kept in step with what is offered.
#pragma once

#include "agent/config/config.h"
#include "agent/sweep/evidence.h"
#include "agent/view.h"
#include "device-plugin/cdi.h"
#include "device-plugin/pool.h"

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace ibpod::agent {

class DeviceFiles {
 public:
  explicit DeviceFiles(const Config& config);

  const Path& device_info_folder() const { return device_info_; }
  const device_plugin::CdiFolder& cdi() const { return cdi_; }

  // From any thread: these are in some pod's hands from now on, before anybody else knows of it.
  void granted(const std::vector<std::string>& ids);

  // Each offered device that nobody has gets its CDI file as it is now; files of devices that are
  // offered no longer go. The file of a device that a pod has was written before its containers.
  Status refresh(const View& view);
  // Device-info files of devices that nobody has any more go. `pods`: the kubelet's, none empty: it
  // has said nothing, and nothing is done.
  Status tidy(const View& view, const std::vector<PodDevices>& pods);

 private:
  std::set<ib::PciAddress> in_use(const View& view, const std::vector<PodDevices>& pods);

  Path device_info_;
  device_plugin::CdiFolder cdi_;
  bool with_cdi_;
  std::mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> granted_;  // guarded by mutex_
};

}  // namespace ibpod::agent
