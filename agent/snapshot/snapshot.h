// View: what the agent knows of its node at one moment. The agent's thread makes it; the kubelet's
// questions, ibpodctl's and the metrics are answered from it.
#pragma once

#include "lib/base/latest.h"
#include "agent/prepare/rdma_mode.h"
#include "agent/gc/garbage_collector.h"
#include "device-plugin/device.h"
#include "device-plugin/health.h"
#include "device-plugin/pool.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::agent {

struct View {
  std::vector<device_plugin::Device> devices;  // by PCI address
  std::vector<device_plugin::Pool> pools;      // in the order in which they take devices
  std::vector<device_plugin::Stock> stocks;    // what they took, with each offer's health
  std::map<std::string, device_plugin::Verdict> verdicts;  // by the offer's id
  device_plugin::Held held;
  RdmaModeVerdict rdma_mode;
  // What is wrong with the node's preparation, a sentence each.
  std::vector<std::string> troubles;
  bool operator==(const View&) const = default;
};

// A device, and where it is offered.
struct Offered {
  const device_plugin::Stock* stock = nullptr;
  const device_plugin::Offer* offer = nullptr;
};
// The interface of a PF; empty: it has none, or is not to be seen.
std::string interface_of(const View& view, const ib::PciAddress& pf);
// By the id that the kubelet knows; both null where it is not offered.
Offered find_offer(const View& view, const std::string& id);

}  // namespace ibpod::agent
