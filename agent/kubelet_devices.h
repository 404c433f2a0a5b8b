// KubeletDevices: the node's devices for the kubelet and the container runtimes: one resource for
// each pool, and the files of the devices.
#pragma once

#include "agent/config/config.h"
#include "agent/host.h"
#include "agent/kubelet/device_files.h"
#include "agent/kubelet/pool_resources.h"
#include "agent/snapshot/snapshot.h"
#include "agent/telemetry.h"
#include "lib/base/latest.h"

#include <functional>
#include <optional>
#include <set>
#include <string>

namespace ibpod::agent {

// For the agent's own thread, except where it says otherwise. All but `config` outlive it.
class KubeletDevices {
 public:
  KubeletDevices(const config::Config& config, Host& host,
                 const Latest<snapshot::Snapshot>& snapshot, Telemetry& telemetry)
      : host_(host),
        snapshot_(snapshot),
        telemetry_(telemetry),
        files_(config),
        deps_{host.sysfs(), files_} {}

  const Path& device_info_folder() const { return files_.device_info_folder(); }

  // Lets the kubelet know the resources of serve(). Without this call, and on a node without a
  // kubelet, there are only the files. `on_change`: a registration has changed; from any thread.
  // Once, and before another thread asks is_registered() or check_registered().
  void begin(const config::Config& config, std::function<void()> on_change);
  // Serves exactly these resources from now on. What could not be served is tried with the next
  // call.
  void serve(const std::set<std::string>& resources);
  // Writes what a runtime reads, then tells the kubelet, which may give a device to a pod at once.
  // `thoroughly`: also removes CDI files of devices that are no longer offered.
  void publish(const snapshot::Snapshot& before, const snapshot::Snapshot& now, bool thoroughly);
  void report_registrations();
  // Ends the kubelet's streams; no device is taken back.
  void stop();

  // From any thread: true if the kubelet knows every resource, or begin() was not called.
  bool is_registered() const { return !resources_ || resources_->all_registered(); }
  // From any thread. unavailable, naming the resources that the kubelet does not know.
  Status check_registered() const;
  // From any thread, which may wait for the kubelet: removes the device-info files of devices that
  // no pod has any more.
  void tidy_files();

 private:
  Host& host_;
  const Latest<snapshot::Snapshot>& snapshot_;
  Telemetry& telemetry_;
  kubelet::DeviceFiles files_;
  bool files_complete_ = false;  // the last publish() found nothing wrong
  kubelet::PoolResourceDeps deps_;
  std::optional<kubelet::PoolResources> resources_;
};

}  // namespace ibpod::agent
