#include "lib/mad/port_info.h"

#include "lib/mad/bytes.h"

#include <algorithm>
#include <utility>

namespace ibpod::mad {
namespace {

// Where things are, in bytes; two names share a byte by nibbles or bits.
constexpr size_t kMKey = 0;
constexpr size_t kSubnetPrefix = 8;
constexpr size_t kLid = 16;
constexpr size_t kSmLid = 18;
constexpr size_t kCapabilities = 20;
constexpr size_t kMKeyLease = 26;
constexpr size_t kLocalPort = 28;
constexpr size_t kWidthActive = 31;
constexpr size_t kSpeedAndState = 32;
constexpr size_t kPhysicalState = 33;
constexpr size_t kProtectionAndLmc = 34;
constexpr size_t kSpeedActive = 35;
constexpr size_t kMtuAndSmSl = 36;
constexpr size_t kEnforcement = 43;
constexpr size_t kMKeyViolations = 44;
constexpr size_t kPKeyViolations = 46;
constexpr size_t kGuidCap = 50;
constexpr size_t kCapabilities2 = 60;
constexpr size_t kExtendedSpeedActive = 62;

constexpr uint8_t kInbound = 0x08;
constexpr uint8_t kOutbound = 0x04;

template <size_t At>
uint8_t high(const Data& data) {
  return load<uint8_t, At>(data) >> 4;
}
template <size_t At>
uint8_t low(const Data& data) {
  return load<uint8_t, At>(data) & 0xf;
}
uint8_t nibbles(unsigned high, unsigned low) { return static_cast<uint8_t>(high << 4 | low); }

ib::PortState state_of(uint8_t number) {
  const bool known = number <= static_cast<uint8_t>(ib::PortState::active_defer);
  return known ? static_cast<ib::PortState>(number) : ib::PortState::unknown;
}

void parse_link(const Data& data, PortInfo& info) {
  info.state = state_of(low<kSpeedAndState>(data));
  info.physical_state = high<kPhysicalState>(data);
  info.width = load<uint8_t, kWidthActive>(data);
  info.speed = high<kSpeedActive>(data);
  info.extended_speed = high<kExtendedSpeedActive>(data);
  info.neighbour_mtu = high<kMtuAndSmSl>(data);
}

void parse_protection(const Data& data, PortInfo& info) {
  info.m_key = MKey{load<uint64_t, kMKey>(data)};
  info.m_key_lease = load<uint16_t, kMKeyLease>(data);
  info.m_key_protection = load<uint8_t, kProtectionAndLmc>(data) >> 6;
  info.m_key_violations = load<uint16_t, kMKeyViolations>(data);
  info.pkey_violations = load<uint16_t, kPKeyViolations>(data);
  info.enforces_inbound = (load<uint8_t, kEnforcement>(data) & kInbound) != 0;
  info.enforces_outbound = (load<uint8_t, kEnforcement>(data) & kOutbound) != 0;
}

template <size_t... Index>
GuidBlock load_guids(const Data& data, std::index_sequence<Index...>) {
  return {ib::Guid(load<uint64_t, Index * sizeof(uint64_t)>(data))...};
}

}  // namespace

Result<PortInfo> parse_port_info(const Data& data) {
  PortInfo info;
  info.lid = load<uint16_t, kLid>(data);
  info.lid_mask = load<uint8_t, kProtectionAndLmc>(data) & 0x7;
  info.sm_lid = load<uint16_t, kSmLid>(data);
  info.subnet_prefix = load<uint64_t, kSubnetPrefix>(data);
  info.capabilities = load<uint32_t, kCapabilities>(data);
  if ((info.capabilities & kCapabilityMask2) != 0)
    info.capabilities2 = load<uint16_t, kCapabilities2>(data);
  info.local_port = load<uint8_t, kLocalPort>(data);
  info.guid_places = load<uint8_t, kGuidCap>(data);
  parse_link(data, info);
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
  store<kWidthActive>(data, info.width);
  store<kSpeedAndState>(data, nibbles(0, static_cast<unsigned>(info.state)));
  store<kPhysicalState>(data, nibbles(info.physical_state, 0));
  store<kProtectionAndLmc>(data, static_cast<uint8_t>(info.m_key_protection << 6 | info.lid_mask));
  store<kSpeedActive>(data, nibbles(info.speed, 0));
  store<kMtuAndSmSl>(data, nibbles(info.neighbour_mtu, 0));
  store<kEnforcement>(data, static_cast<uint8_t>((info.enforces_inbound ? kInbound : 0) |
                                                 (info.enforces_outbound ? kOutbound : 0)));
  store<kMKeyViolations>(data, info.m_key_violations);
  store<kPKeyViolations>(data, info.pkey_violations);
  store<kGuidCap>(data, info.guid_places);
  store<kExtendedSpeedActive>(data, nibbles(info.extended_speed, 0));
  return data;
}

Result<GuidBlock> parse_guid_block(const Data& data) {
  return load_guids(data, std::make_index_sequence<std::tuple_size_v<GuidBlock>>());
}

}  // namespace ibpod::mad
