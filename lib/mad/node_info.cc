#include "lib/mad/node_info.h"

#include "lib/mad/bytes.h"

namespace ibpod::mad {
namespace {

// Where things are in NodeInfo, in bytes.
constexpr size_t kBaseVersion = 0;
constexpr size_t kClassVersion = 1;
constexpr size_t kType = 2;
constexpr size_t kPorts = 3;
constexpr size_t kSystemGuid = 4;
constexpr size_t kNodeGuid = 12;
constexpr size_t kPortGuid = 20;
constexpr size_t kPartitionCap = 28;
constexpr size_t kDeviceId = 30;
constexpr size_t kLocalPortAndVendor = 36;

// In SwitchInfo.
constexpr size_t kLinearCap = 0;
constexpr size_t kLifeTimeAndChange = 11;
constexpr size_t kEnforcementCap = 14;
constexpr size_t kEnforcement = 16;

constexpr uint8_t kPortChange = 0x04;
constexpr uint8_t kInbound = 0x80;
constexpr uint8_t kOutbound = 0x40;
constexpr uint8_t kEnhancedPort0 = 0x08;

constexpr uint8_t bit(bool set, uint8_t mask) { return set ? mask : uint8_t{0}; }

}  // namespace

Result<NodeInfo> parse_node_info(const Data& data) {
  const auto type = load<uint8_t, kType>(data);
  if (type < 1 || type > 3)
    return Error(Code::invalid, "NodeInfo tells of a node of type " + std::to_string(type));
  const auto local_port_and_vendor = load<uint32_t, kLocalPortAndVendor>(data);
  NodeInfo info;
  info.type = static_cast<NodeType>(type);
  info.ports = load<uint8_t, kPorts>(data);
  info.system_guid = ib::Guid(load<uint64_t, kSystemGuid>(data));
  info.node_guid = ib::Guid(load<uint64_t, kNodeGuid>(data));
  info.port_guid = ib::Guid(load<uint64_t, kPortGuid>(data));
  info.partition_places = load<uint16_t, kPartitionCap>(data);
  info.device_id = load<uint16_t, kDeviceId>(data);
  info.local_port = static_cast<uint8_t>(local_port_and_vendor >> 24);
  info.vendor_id = local_port_and_vendor & 0xffffff;
  return info;
}

Result<SwitchInfo> parse_switch_info(const Data& data) {
  const auto enforcement = load<uint8_t, kEnforcement>(data);
  SwitchInfo info;
  info.forwarding_places = load<uint16_t, kLinearCap>(data);
  info.partition_places = load<uint16_t, kEnforcementCap>(data);
  info.enforces_inbound = (enforcement & kInbound) != 0;
  info.enforces_outbound = (enforcement & kOutbound) != 0;
  info.enhanced_port_0 = (enforcement & kEnhancedPort0) != 0;
  info.port_changed = (load<uint8_t, kLifeTimeAndChange>(data) & kPortChange) != 0;
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
  store<kSystemGuid>(data, info.system_guid.value());
  store<kNodeGuid>(data, info.node_guid.value());
  store<kPortGuid>(data, info.port_guid.value());
  store<kPartitionCap>(data, info.partition_places);
  store<kDeviceId>(data, info.device_id);
  store<kLocalPortAndVendor>(data, uint32_t{info.local_port} << 24 | (info.vendor_id & 0xffffff));
  return data;
}

Data encode(const SwitchInfo& info) {
  Data data{};
  store<kLinearCap>(data, info.forwarding_places);
  store<kLifeTimeAndChange>(data, bit(info.port_changed, kPortChange));
  store<kEnforcementCap>(data, info.partition_places);
  store<kEnforcement>(data, static_cast<uint8_t>(bit(info.enforces_inbound, kInbound) |
                                                 bit(info.enforces_outbound, kOutbound) |
                                                 bit(info.enhanced_port_0, kEnhancedPort0)));
  return data;
}

}  // namespace ibpod::mad
