#include "agent/snapshot/make_snapshot.h"

#include "device-plugin/health.h"

namespace ibpod::agent {
namespace {

using device_plugin::Device;
using device_plugin::Pool;
using device_plugin::Stock;

void quarantine(std::vector<Device>& devices, const Pass& pass) {
  for (const Outcome& outcome : pass.outcomes) {
    if (!outcome.vf || !outcome.quarantined()) continue;
    for (Device& device : devices)
      if (device.address == *outcome.vf) device.quarantine = outcome.text();
  }
}

// A ticket's child is an interface of the host's port: no pod sees an RDMA device by it.
device_plugin::Promise promise_of(const Pool& pool, size_t selector, bool bound) {
  device_plugin::Promise promise{pool.isolation, pool.ignore_link, true, bound};
  if (pool.kind == device_plugin::Kind::ticket) promise.isolation = false;
  const bool asks = selector < pool.selectors.size();
  if (asks && pool.selectors[selector].rdma == false) promise.rdma = false;
  return promise;
}

}  // namespace

View make_view(std::vector<Device> devices, const Judged& judged) {
  quarantine(devices, judged.pass);
  View view;
  view.stocks = device_plugin::deal(judged.pools, devices, judged.held);
  for (Stock& stock : view.stocks) {
    for (device_plugin::Offer& offer : stock.offers) {
      const auto promise = promise_of(stock.pool, offer.selector, judged.bound);
      const auto verdict = device_plugin::judge(offer.device, promise, judged.rdma_mode.mode);
      offer.unhealthy = verdict.text;
      view.verdicts[offer.id] = verdict;
    }
  }
  view.devices = std::move(devices);
  view.pools = judged.pools;
  view.held = judged.held;
  view.rdma_mode = judged.rdma_mode;
  view.troubles = judged.troubles;
  return view;
}

}  // namespace ibpod::agent
