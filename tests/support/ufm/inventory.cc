#include "tests/support/ufm/inventory.h"

#include <utility>

namespace ibpod::fake_ufm {

void Inventory::set_ports(std::vector<Port> ports) {
  const std::lock_guard lock(mutex_);
  ports_ = std::move(ports);
}

void Inventory::set_vports(std::vector<Vport> vports) {
  const std::lock_guard lock(mutex_);
  vports_ = std::move(vports);
}

void Inventory::set_virtualization(bool on, std::chrono::milliseconds interval) {
  const std::lock_guard lock(mutex_);
  virtualization_ = on;
  interval_ = interval;
  looked_.reset();
}

std::vector<Port> Inventory::ports() const {
  const std::lock_guard lock(mutex_);
  return ports_;
}

std::vector<Vport> Inventory::vports(Time now) {
  const std::lock_guard lock(mutex_);
  if (!virtualization_) return {};
  if (!looked_ || now - *looked_ >= interval_) {
    shown_ = vports_;
    looked_ = now;
  }
  return shown_;
}

std::set<ib::Guid> Inventory::known() const {
  const std::lock_guard lock(mutex_);
  std::set<ib::Guid> guids;
  for (const Port& port : ports_) guids.insert(port.guid);
  for (const Vport& vport : vports_) guids.insert(vport.guid);
  return guids;
}

}  // namespace ibpod::fake_ufm
