#include "agent/snapshot/snapshot.h"

#include <algorithm>

namespace ibpod::agent {

std::string interface_of(const View& view, const ib::PciAddress& pf) {
  const auto found = std::find_if(view.devices.begin(), view.devices.end(),
                                  [&](const auto& one) { return one.address == pf; });
  return found == view.devices.end() ? "" : found->pf_name;
}

Offered find_offer(const View& view, const std::string& id) {
  for (const device_plugin::Stock& stock : view.stocks) {
    for (const device_plugin::Offer& offer : stock.offers)
      if (offer.id == id) return {&stock, &offer};
  }
  return {};
}

}  // namespace ibpod::agent
