#include "lib/mad/node_info.h"

#include "lib/mad/bytes.h"

namespace ibpod::mad {
namespace {

// Offsets in NodeInfo, in bytes.
constexpr size_t kBaseVersion = 0;
constexpr size_t kClassVersion = 1;
constexpr size_t kType = 2;
constexpr size_t kPorts = 3;
constexpr size_t kNodeGuid = 12;
constexpr size_t kPortGuid = 20;
constexpr size_t kPartitionCap = 28;
constexpr size_t kLocalPort = 36;

// In SwitchInfo.
constexpr size_t kEnforcementCap = 14;

}  // namespace

Result<NodeInfo> parse_node_info(const Data& data) {
  const auto type = load<uint8_t, kType>(data);
  if (type < 1 || type > 3)
    return Error(Code::invalid, "NodeInfo has the unknown node type " + std::to_string(type));
  NodeInfo info;
  info.type = static_cast<NodeType>(type);
  info.ports = load<uint8_t, kPorts>(data);
  info.node_guid = ib::Guid(load<uint64_t, kNodeGuid>(data));
  info.port_guid = ib::Guid(load<uint64_t, kPortGuid>(data));
  info.partition_cap = load<uint16_t, kPartitionCap>(data);
  info.local_port = load<uint8_t, kLocalPort>(data);
  return info;
}

Result<SwitchInfo> parse_switch_info(const Data& data) {
  SwitchInfo info;
  info.partition_cap = load<uint16_t, kEnforcementCap>(data);
  return info;
}

Result<std::string> parse_node_description(const Data& data) {
  std::string text;
  for (const std::byte byte : data) {
    const auto character = std::to_integer<char>(byte);
    if (character == '\0') break;
    text += character >= ' ' && character <= '~' ? character : '?';
  }
  return text;
}

Data encode(const NodeInfo& info) {
  Data data{};
  store<kBaseVersion>(data, uint8_t{1});
  store<kClassVersion>(data, uint8_t{1});
  store<kType>(data, static_cast<uint8_t>(info.type));
  store<kPorts>(data, info.ports);
  store<kNodeGuid>(data, info.node_guid.value());
  store<kPortGuid>(data, info.port_guid.value());
  store<kPartitionCap>(data, info.partition_cap);
  store<kLocalPort>(data, info.local_port);
  return data;
}

Data encode(const SwitchInfo& info) {
  Data data{};
  store<kEnforcementCap>(data, info.partition_cap);
  return data;
}

}  // namespace ibpod::mad
