#include "agent/sm_client/node_ports.h"

namespace ibpod::agent::sm_client {

std::optional<ib::Guid> port_of(const device_plugin::Device& device) {
  for (const device_plugin::RdmaDevice& rdma : device.rdma) {
    if (!rdma.verbs || rdma.ports.empty()) continue;
    const ib::Guid guid = rdma.ports.front().guid;
    if (!guid.none()) return guid;
  }
  return std::nullopt;
}

NodePorts ports_of(const std::vector<device_plugin::Device>& devices) {
  NodePorts ports;
  for (const device_plugin::Device& device : devices) {
    const std::optional<ib::Guid> guid = port_of(device);
    if (!guid || !device.attachment.empty()) continue;
    (device.pf ? ports.vfs : ports.pfs).push_back(*guid);
  }
  return ports;
}

}  // namespace ibpod::agent::sm_client
