// The description of a node: NodeInfo, NodeDescription and, for a switch, SwitchInfo (IBA 1.4,
// volume 1, 14.2.5.2 to 14.2.5.4). Read-only.
#pragma once

#include "lib/ib/guid.h"
#include "lib/mad/smp.h"

#include <cstdint>
#include <string>

namespace ibpod::mad {

enum class NodeType : uint8_t { channel_adapter = 1, switch_node = 2, router = 3 };

struct NodeInfo {
  NodeType type = NodeType::channel_adapter;
  uint8_t ports = 0;  // physical ones: of a switch without port 0
  ib::Guid node_guid;
  ib::Guid port_guid;  // of the port that the question came in by; of a switch its port 0
  // Places of the P_Key table of each port of an adapter or router, or of a switch's port 0. The
  // other ports of a switch: SwitchInfo.
  uint16_t partition_cap = 0;
  uint8_t local_port = 0;  // where the question came in
  bool operator==(const NodeInfo&) const = default;
};

struct SwitchInfo {
  // Places of the P_Key table of each external port; 0: the switch does not enforce partitions.
  uint16_t partition_cap = 0;
  bool operator==(const SwitchInfo&) const = default;
};

// invalid: a type of node that there is not.
Result<NodeInfo> parse_node_info(const Data& data);
Result<SwitchInfo> parse_switch_info(const Data& data);
// The administrator's or firmware's words. Whatever is not printable ASCII reads as '?', so that it
// may be logged.
Result<std::string> parse_node_description(const Data& data);

// For tests: what a node with this information says.
Data encode(const NodeInfo& info);
Data encode(const SwitchInfo& info);

}  // namespace ibpod::mad
