#include "agent/view.h"

#include <algorithm>

namespace ibpod::agent {

const device_plugin::Device* pf_of(const View& view, const ib::PciAddress& device) {
  const auto find = [&](const ib::PciAddress& address) {
    return std::find_if(view.devices.begin(), view.devices.end(),
                        [&](const auto& one) { return one.address == address; });
  };
  auto found = find(device);
  if (found != view.devices.end() && found->pf) found = find(*found->pf);
  return found == view.devices.end() ? nullptr : &*found;
}

Offered find_offer(const View& view, const std::string& id) {
  for (const device_plugin::Stock& stock : view.stocks) {
    for (const device_plugin::Offer& offer : stock.offers)
      if (offer.id == id) return {&stock, &offer};
  }
  return {};
}

}  // namespace ibpod::agent
