#include "lib/mad/port_info.h"

#include "lib/mad/bytes.h"

namespace ibpod::mad {
namespace {

// Offsets in bytes; two names share a byte by nibbles or bits.
constexpr size_t kMKey = 0;
constexpr size_t kSubnetPrefix = 8;
constexpr size_t kLid = 16;
constexpr size_t kSmLid = 18;
constexpr size_t kCapabilities = 20;
constexpr size_t kMKeyLease = 26;
constexpr size_t kLocalPort = 28;
constexpr size_t kSpeedAndState = 32;
constexpr size_t kProtectionAndLmc = 34;
constexpr size_t kEnforcement = 43;
constexpr size_t kCapabilities2 = 60;

constexpr uint8_t kInbound = 0x08;
constexpr uint8_t kOutbound = 0x04;

ib::PortState state_of(uint8_t number) {
  const bool known = number <= static_cast<uint8_t>(ib::PortState::active_defer);
  return known ? static_cast<ib::PortState>(number) : ib::PortState::unknown;
}

void parse_protection(const Data& data, PortInfo& info) {
  info.m_key = MKey{load<uint64_t, kMKey>(data)};
  info.m_key_lease = load<uint16_t, kMKeyLease>(data);
  info.m_key_protection = load<uint8_t, kProtectionAndLmc>(data) >> 6;
  info.enforces_inbound = (load<uint8_t, kEnforcement>(data) & kInbound) != 0;
  info.enforces_outbound = (load<uint8_t, kEnforcement>(data) & kOutbound) != 0;
}

}  // namespace

Result<PortInfo> parse_port_info(const Data& data) {
  PortInfo info;
  info.state = state_of(load<uint8_t, kSpeedAndState>(data) & 0xf);
  info.lid = load<uint16_t, kLid>(data);
  info.lid_mask = load<uint8_t, kProtectionAndLmc>(data) & 0x7;
  info.sm_lid = load<uint16_t, kSmLid>(data);
  info.subnet_prefix = load<uint64_t, kSubnetPrefix>(data);
  info.capabilities = load<uint32_t, kCapabilities>(data);
  if ((info.capabilities & kCapabilityMask2) != 0)
    info.capabilities2 = load<uint16_t, kCapabilities2>(data);
  info.local_port = load<uint8_t, kLocalPort>(data);
  parse_protection(data, info);
  return info;
}

Data encode(const PortInfo& info) {
  Data data{};
  store<kMKey>(data, static_cast<uint64_t>(info.m_key));
  store<kSubnetPrefix>(data, info.subnet_prefix);
  store<kLid>(data, info.lid);
  store<kSmLid>(data, info.sm_lid);
  store<kCapabilities>(data, info.capabilities);
  store<kCapabilities2>(data, info.capabilities2);
  store<kMKeyLease>(data, info.m_key_lease);
  store<kLocalPort>(data, info.local_port);
  store<kSpeedAndState>(data, static_cast<uint8_t>(info.state));
  store<kProtectionAndLmc>(data, static_cast<uint8_t>(info.m_key_protection << 6 | info.lid_mask));
  store<kEnforcement>(data, static_cast<uint8_t>((info.enforces_inbound ? kInbound : 0) |
                                                 (info.enforces_outbound ? kOutbound : 0)));
  return data;
}

}  // namespace ibpod::mad
