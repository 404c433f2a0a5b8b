#include "lib/kube/device_plugin.h"

#include "lib/kube/registration_loop.h"

namespace ibpod::kube {

Result<std::unique_ptr<DevicePlugin>> DevicePlugin::start(Resource& resource, Kubelet kubelet) {
  Wake wake = TRY(Wake::open());
  auto keeper = std::make_unique<Keeper>(resource, std::move(kubelet), std::move(wake));
  TRY(keeper->check());
  TRY(keeper->publish());
  keeper->start();
  return std::unique_ptr<DevicePlugin>(new DevicePlugin(std::move(keeper)));
}

DevicePlugin::DevicePlugin(std::unique_ptr<Keeper> keeper) : keeper_(std::move(keeper)) {}

DevicePlugin::~DevicePlugin() = default;

Status DevicePlugin::publish() { return keeper_->publish(); }

Registration DevicePlugin::registration() const { return keeper_->registration(); }

void DevicePlugin::stop() { keeper_->stop(); }

}  // namespace ibpod::kube
