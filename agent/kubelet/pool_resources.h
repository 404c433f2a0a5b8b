// Resources: the pools that the kubelet knows, each served on a socket of its own.
#pragma once

#include "agent/kubelet/pool_resource.h"
#include "lib/kube/device_plugin.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace ibpod::agent {

class Resources {
 public:
  // What an Offering needs; all of it outlives the resources.
  Resources(kube::Kubelet kubelet, const Latest<View>& view, const OfferingPlaces& places,
            Offering::Allocated allocated)
      : kubelet_(std::move(kubelet)),
        view_(view),
        places_(places),
        allocated_(std::move(allocated)) {}

  // Serves exactly these from now on: those that are served already go on as they are. Goes on
  // through failures and returns them all; what could not be served is tried with the next call.
  Status serve(const std::set<std::string>& names);
  // Tells the kubelet of what is in the view now.
  Status publish();
  // Ends all streams; no device is taken back (kube::DevicePlugin::stop).
  void stop();

  // From any thread.
  std::map<std::string, kube::Registration> registrations() const;
  // Whether the kubelet knows every one of them; not before serve().
  bool registered() const;

 private:
  struct Served {
    std::unique_ptr<Offering> offering;
    std::unique_ptr<kube::DevicePlugin> plugin;
  };
  const kube::Kubelet kubelet_;
  const Latest<View>& view_;
  const OfferingPlaces& places_;
  const Offering::Allocated allocated_;
  mutable std::mutex mutex_;
  bool told_ = false;  // which to serve; this and below: guarded by mutex_
  std::set<std::string> wanted_;
  std::map<std::string, Served> served_;
};

}  // namespace ibpod::agent
