#include "agent/kubelet/pool_resource.h"

#include "device-plugin/allocation.h"
#include "device-plugin/preferred_allocation.h"
#include "lib/sysfs/pci.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

using device_plugin::Offer;
using device_plugin::Stock;

const Stock* find_stock(const View& view, const std::string& resource) {
  const auto found = std::find_if(view.stocks.begin(), view.stocks.end(), [&](const Stock& stock) {
    return stock.pool.resource() == resource;
  });
  return found == view.stocks.end() ? nullptr : &*found;
}

kube::Allocation allocation_of(const device_plugin::Answer& answer) {
  kube::Allocation allocation;
  allocation.envs = answer.envs;
  allocation.annotations = answer.annotations;
  allocation.cdi_devices = answer.cdi_devices;
  for (const device_plugin::Mount& mount : answer.mounts)
    allocation.mounts.push_back({mount.container_path, mount.host_path, mount.read_only});
  for (const device_plugin::DeviceNode& node : answer.device_nodes)
    allocation.devices.push_back({node.path, node.host_path, node.permissions});
  return allocation;
}

}  // namespace

std::vector<kube::Device> Offering::devices() {
  const auto view = view_.get();
  const Stock* stock = find_stock(*view, name_);
  std::vector<kube::Device> devices;
  if (stock == nullptr) return devices;
  for (const Offer& offer : stock->offers) {
    devices.push_back({offer.id, offer.unhealthy.empty(),
                       stock->pool.exclude_topology ? std::nullopt : offer.device.numa});
  }
  return devices;
}

Result<kube::Allocation> Offering::grant(const View& view, const kube::DeviceIds& ids) {
  const device_plugin::Answer answer = TRY(device_plugin::allocate(view.stocks, name_, ids));
  std::vector<Offered> given;
  for (const std::string& id : ids) given.push_back(find_offer(view, id));
  TRY(places_.files.grant(given));
  return allocation_of(answer);
}

Result<kube::Allocation> Offering::allocate(const kube::DeviceIds& ids) {
  const auto begin = std::chrono::steady_clock::now();
  Result<kube::Allocation> allocation = grant(*view_.get(), ids);
  allocated_({name_, ids, allocation.ok(), std::chrono::steady_clock::now() - begin});
  return allocation;
}

Result<kube::DeviceIds> Offering::prefer(const kube::DeviceIds& available,
                                         const kube::DeviceIds& must_include, size_t size) {
  const auto view = view_.get();
  const Stock* stock = find_stock(*view, name_);
  if (stock == nullptr) return Error(Code::not_found, "there is no pool " + name_ + " any more");
  return device_plugin::preferred(stock->offers, stock->pool.policy,
                                  {available, must_include, size});
}

Status Offering::pre_start(const kube::DeviceIds& ids) {
  const auto view = view_.get();
  for (const std::string& id : ids) TRY(pre_start_of(*view, id));
  return ok();
}

Status Offering::pre_start_of(const View& view, const std::string& id) {
  const Offered offered = find_offer(view, id);
  if (offered.offer == nullptr) return Error(Code::not_found, name_ + " offers no device " + id);
  Offer now = *offered.offer;
  now.device.char_devices = TRY(sysfs::char_devices(places_.sysfs, now.device.address));
  return places_.files.start(name_, offered.stock->pool, now);
}

}  // namespace ibpod::agent
