#include "agent/view.h"

namespace ibpod::agent {

Offered find_offer(const View& view, const std::string& id) {
  for (const device_plugin::Stock& stock : view.stocks) {
    for (const device_plugin::Offer& offer : stock.offers)
      if (offer.id == id) return {&stock, &offer};
  }
  return {};
}

}  // namespace ibpod::agent
