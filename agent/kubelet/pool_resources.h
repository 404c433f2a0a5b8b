// PoolResources: the pools that the kubelet knows, each served on a socket of its own.
#pragma once

#include "agent/kubelet/pool_resource.h"
#include "lib/kube/device_plugin.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace ibpod::agent::kubelet {

class PoolResources {
 public:
  // Everything that it uses outlives the resources.
  PoolResources(kube::KubeletOptions kubelet, const Latest<snapshot::Snapshot>& snapshot,
                const PoolResourceDeps& places, PoolResource::OnAllocate allocated)
      : kubelet_(std::move(kubelet)),
        snapshot_(snapshot),
        deps_(places),
        on_allocate_(std::move(allocated)) {}

  // Serves exactly these from now on: those that are served already go on as they are. Goes on
  // through failures and returns them all; what could not be served is tried with the next call.
  Status serve(const std::set<std::string>& names);
  // Tells the kubelet of what is in the view now.
  Status publish();
  // Ends all streams; no device is taken back (kube::DevicePlugin::stop).
  void stop();

  // From any thread.
  std::map<std::string, kube::Registration> registrations() const;
  // True if the kubelet knows every one of them; not before serve().
  bool all_registered() const;

 private:
  struct ServedResource {
    std::unique_ptr<PoolResource> resource;
    std::unique_ptr<kube::DevicePlugin> plugin;
  };
  const kube::KubeletOptions kubelet_;
  const Latest<snapshot::Snapshot>& snapshot_;
  const PoolResourceDeps& deps_;
  const PoolResource::OnAllocate on_allocate_;
  mutable std::mutex mutex_;
  bool serving_ = false;  // which to serve; this and below: guarded by mutex_
  std::set<std::string> names_;
  std::map<std::string, ServedResource> served_;
};

}  // namespace ibpod::agent::kubelet
