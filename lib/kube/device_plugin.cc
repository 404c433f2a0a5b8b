#include "lib/kube/device_plugin.h"

#include "lib/kube/registration_loop.h"

namespace ibpod::kube {

Result<std::unique_ptr<DevicePlugin>> DevicePlugin::start(Resource& resource,
                                                          KubeletOptions kubelet) {
  Wake wake = TRY(Wake::open());
  auto loop = std::make_unique<RegistrationLoop>(resource, std::move(kubelet), std::move(wake));
  TRY(loop->check());
  TRY(loop->publish());
  loop->start();
  return std::unique_ptr<DevicePlugin>(new DevicePlugin(std::move(loop)));
}

DevicePlugin::DevicePlugin(std::unique_ptr<RegistrationLoop> loop) : loop_(std::move(loop)) {}

DevicePlugin::~DevicePlugin() = default;

Status DevicePlugin::publish() { return loop_->publish(); }

Registration DevicePlugin::registration() const { return loop_->registration(); }

void DevicePlugin::stop() { loop_->stop(); }

}  // namespace ibpod::kube
