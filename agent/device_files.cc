#include "agent/device_files.h"

#include "device-plugin/device_info.h"

namespace ibpod::agent {
namespace {

// The kubelet names a pod's devices in pod-resources well before that.
constexpr std::chrono::minutes kUntilTheKubeletSaysSo{5};

void add(const std::string& id, std::set<ib::PciAddress>& devices) {
  const Result<ib::PciAddress> address = ib::PciAddress::parse(id);
  if (address) devices.insert(*address);
}

}  // namespace

DeviceFiles::DeviceFiles(const Config& config)
    : device_info_(config.device_info_folder), with_cdi_(config.cdi) {
  cdi_.path = config.cdi_folder;
  if (cdi_.path != "/etc/cdi") cdi_.others = {"/etc/cdi"};
}

void DeviceFiles::granted(const std::vector<std::string>& ids) {
  const std::scoped_lock lock(mutex_);
  for (const std::string& id : ids) granted_[id] = std::chrono::steady_clock::now();
}

Status DeviceFiles::refresh(const View& view) {
  if (!with_cdi_) return ok();
  TRY(make_folders(cdi_.path));
  Errors errors;
  for (const device_plugin::Stock& stock : view.stocks) {
    for (const device_plugin::Offer& offer : stock.offers) {
      if (offer.device.attachment.empty())
        errors.collect(device_plugin::refresh_cdi(cdi_, stock.pool, offer));
    }
  }
  errors.collect(device_plugin::tidy_cdi(cdi_, view.stocks));
  return errors.status();
}

std::set<ib::PciAddress> DeviceFiles::in_use(const View& view,
                                             const std::vector<PodDevices>& pods) {
  std::set<ib::PciAddress> devices;
  for (const device_plugin::Device& device : view.devices)
    if (!device.attachment.empty()) devices.insert(device.address);
  for (const PodDevices& pod : pods)
    for (const std::string& id : pod.devices) add(id, devices);
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  std::erase_if(granted_,
                [&](const auto& one) { return now - one.second > kUntilTheKubeletSaysSo; });
  for (const auto& [id, when] : granted_) add(id, devices);
  return devices;
}

Status DeviceFiles::tidy(const View& view, const std::vector<PodDevices>& pods) {
  if (pods.empty()) return ok();
  const std::set<ib::PciAddress> used = in_use(view, pods);
  Errors errors;
  for (const device_plugin::Pool& pool : view.pools)
    errors.collect(device_plugin::tidy_device_info(device_info_, pool.resource(), used));
  return errors.status();
}

}  // namespace ibpod::agent
