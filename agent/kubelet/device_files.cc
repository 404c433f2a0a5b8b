#include "agent/kubelet/device_files.h"

#include "device-plugin/device_info.h"
#include "lib/base/fnv.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace ibpod::agent {
namespace {

using device_plugin::Offer;
using device_plugin::Pool;
using device_plugin::Stock;

// The kubelet names a pod's devices in pod-resources well before that, and no look takes so long.
constexpr std::chrono::minutes kUntilOthersSaySo{5};

void add(const std::string& id, std::set<ib::PciAddress>& devices) {
  const Result<ib::PciAddress> address = ib::PciAddress::parse(id);
  if (address) devices.insert(*address);
}

// No two agents of a machine have one socket. The usual one has the plain name.
std::string owner_of(const Path& agent_socket) {
  if (agent_socket == Config().agent_socket) return "ibpod";
  char text[32];
  std::snprintf(text, sizeof text, "ibpod-%016" PRIx64, fnv1a(agent_socket.native()));
  return text;
}
// The offers of a View, by id.
class Offers {
 public:
  Offers() = default;
  explicit Offers(const View& view) {
    for (const device_plugin::Stock& stock : view.stocks)
      for (const device_plugin::Offer& offer : stock.offers) all_[offer.id] = {&stock, &offer};
  }
  // Whether all of these are among the others.
  bool are_in(const Offers& others) const {
    return std::all_of(all_.begin(), all_.end(),
                       [&](const auto& one) { return others.all_.contains(one.first); });
  }
  bool contains(const device_plugin::Stock& stock, const device_plugin::Offer& offer) const {
    const auto found = all_.find(offer.id);
    return found != all_.end() && found->second.stock->pool == stock.pool &&
           *found->second.offer == offer;
  }

 private:
  std::map<std::string, Offered> all_;
};

}  // namespace

DeviceFiles::DeviceFiles(const Config& config)
    : device_info_(config.device_info_folder), with_cdi_(config.cdi) {
  cdi_.path = config.cdi_folder;
  cdi_.owner = owner_of(config.agent_socket);
  if (cdi_.path != "/etc/cdi") cdi_.others = {"/etc/cdi"};
  cdi_.mount_namespace_of_others = config.host_mount_namespace;
}

Status DeviceFiles::grant(const std::vector<Offered>& devices) {
  const std::scoped_lock lock(mutex_);
  for (const Offered& device : devices) mark(device.offer->id);
  for (const Offered& device : devices) {
    if (device.stock->pool.kind != device_plugin::Kind::device) continue;
    TRY(read_resources());
    resources_->insert(device.stock->pool.resource());
    TRY(device_plugin::write_device_info(device_info_, device.stock->pool, *device.offer,
                                         *resources_));
  }
  return ok();
}

// Once: the files are many on a large node, and nobody else writes ours.
Status DeviceFiles::read_resources() {
  if (resources_) return ok();
  resources_ = TRY(device_plugin::resources_given_out(device_info_));
  return ok();
}

Status DeviceFiles::compare(const std::string& resource, const Pool& pool, const Offer& now) const {
  if (!device_plugin::gives_nodes(pool, now)) return ok();
  const auto granted = TRY(device_plugin::granted_nodes(device_info_, resource, now.id));
  if (granted) return device_plugin::compare_nodes(now.id, *granted, nodes_of(pool, now));
  return Error(Code::unavailable,
               "which nodes device " + now.id + " was granted with was in " +
                   device_plugin::device_info_file(device_info_, resource, now.id).string() +
                   ", which is gone: the container might open another device; delete the pod, or "
                   "use a pool with \"cdi\": true");
}

Status DeviceFiles::start(const std::string& resource, const Pool& pool, const Offer& now) {
  if (device_plugin::cdi_name(pool, now).empty()) return compare(resource, pool, now);
  const std::scoped_lock cdi_lock(cdi_mutex_);
  {
    const std::scoped_lock lock(mutex_);
    mark(now.id);
  }
  TRY(make_folders(cdi_.path));
  return device_plugin::refresh_cdi(cdi_, pool, now);
}

Status DeviceFiles::refresh(const View& now, const View* before) {
  if (!with_cdi_) return ok();
  const std::scoped_lock cdi_lock(cdi_mutex_);
  TRY(make_folders(cdi_.path));
  const std::set<ib::PciAddress> used = given_away(now);
  const Offers old = before == nullptr ? Offers() : Offers(*before);
  Errors errors;
  for (const Stock& stock : now.stocks) {
    for (const Offer& offer : stock.offers) {
      if (!used.contains(offer.device.address) && !old.contains(stock, offer))
        errors.collect(device_plugin::refresh_cdi(cdi_, stock.pool, offer));
    }
  }
  if (before == nullptr || !old.are_in(Offers(now)))
    errors.collect(device_plugin::tidy_cdi(cdi_, now.stocks, used));
  return errors.status();
}

std::set<ib::PciAddress> DeviceFiles::given_away(const View& now) {
  const std::scoped_lock lock(mutex_);
  return in_use(now, {});
}

Status DeviceFiles::tidy_cdi(const View& now) {
  if (!with_cdi_) return ok();
  const std::scoped_lock cdi_lock(cdi_mutex_);
  return device_plugin::tidy_cdi(cdi_, now.stocks, given_away(now));
}

std::set<ib::PciAddress> DeviceFiles::in_use(const View& view,
                                             const std::vector<PodDevices>& pods) {
  std::set<ib::PciAddress> devices;
  for (const device_plugin::Device& device : view.devices)
    if (!device.attachment.empty()) devices.insert(device.address);
  for (const PodDevices& pod : pods)
    for (const std::string& id : pod.devices) add(id, devices);
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(granted_, [&](const auto& one) { return now - one.second > kUntilOthersSaySo; });
  for (const auto& [id, when] : granted_) add(id, devices);
  return devices;
}

Status DeviceFiles::tidy(const View& view, const std::vector<PodDevices>& pods) {
  if (pods.empty()) return ok();
  const std::scoped_lock lock(mutex_);
  const std::set<ib::PciAddress> used = in_use(view, pods);
  Errors errors;
  for (const Pool& pool : view.pools)
    errors.collect(device_plugin::tidy_device_info(device_info_, pool.resource(), used));
  return errors.status();
}

}  // namespace ibpod::agent
