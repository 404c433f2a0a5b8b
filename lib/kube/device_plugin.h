// DevicePlugin: serves a Resource to the kubelet, and sees to it that the kubelet knows of it.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/kube/registration.h"
#include "lib/kube/resource.h"

#include <functional>
#include <memory>

namespace ibpod::kube {

// How often an attempt to register follows another.
struct RetryIntervals {
  Duration first{250};     // after a failure; twice as long after each further one
  Duration most{30'000};   // at most, and how long a registration must hold to count as none
  Duration quiet{60'000};  // where the kubelet has said nothing at all
};

struct KubeletOptions {
  // The kubelet's folder, by the path that the kubelet itself has it under: it is told the socket's
  // absolute path. In a container it is mounted at the same place.
  Path root = "/var/lib/kubelet";
  Mode mode = Mode::automatic;
  RetryIntervals retry = {};
  // Told of every change, from any thread; it must not call the plugin.
  std::function<void(const Registration&)> on_change = {};
};

// It registers, and again whenever the kubelet has refused, hung up, restarted or removed the
// socket; a kubelet that is not there yet is waited for. One thread, and gRPC's; idle, it sleeps.
// Facts of the protocol are those of kubelet 1.20 to 1.37: pkg/kubelet/cm/devicemanager and
// pkg/kubelet/pluginmanager.
class DevicePlugin {
 public:
  // Publishes and goes on by itself. The resource outlives the plugin. invalid for a name or a
  // device list that the kubelet would not take, or a folder whose name is too long for a socket.
  static Result<std::unique_ptr<DevicePlugin>> start(Resource& resource, KubeletOptions kubelet);
  DevicePlugin(const DevicePlugin&) = delete;
  DevicePlugin& operator=(const DevicePlugin&) = delete;
  DevicePlugin(DevicePlugin&&) = delete;
  DevicePlugin& operator=(DevicePlugin&&) = delete;
  ~DevicePlugin();

  // Reads the resource's devices and sends them to the kubelet if they are others than those sent
  // last. From any thread, but not while holding what devices() waits for. With an error (see
  // start) the kubelet keeps the last list.
  Status publish();

  // From any thread.
  Registration registration() const;

  // Ends the streams and removes the socket. The kubelet is not sent another list: it keeps the
  // count for five minutes, with all devices unhealthy. Calls in progress have 300 ms; see
  // rpc::Server::stop. The second call does nothing.
  void stop();

 private:
  class RegistrationLoop;
  explicit DevicePlugin(std::unique_ptr<RegistrationLoop> loop);
  std::unique_ptr<RegistrationLoop> loop_;
};

}  // namespace ibpod::kube
