// The state of a port: PortInfo (IBA 1.4, volume 1, 14.2.5.6), as far as partitions need it.
// Read-only: a Set(PortInfo) writes all of it, the state of the link included, and is the subnet
// manager's.
#pragma once

#include "lib/ib/port.h"
#include "lib/mad/smp.h"

#include <cstdint>

namespace ibpod::mad {

struct PortInfo {
  ib::PortState state = ib::PortState::unknown;
  ib::Lid lid = 0;
  uint8_t lid_mask = 0;  // LMC: the port has 2^lid_mask LIDs
  ib::Lid sm_lid = 0;
  uint64_t subnet_prefix = 0;
  uint32_t capabilities = 0;   // CapabilityMask
  uint16_t capabilities2 = 0;  // CapabilityMask2; 0 where the port says that it has none
  uint8_t local_port = 0;      // where the question came in

  // A node shows its M_Key only to who knows it, from protection level 1 on.
  MKey m_key = MKey::none;
  uint16_t m_key_lease = 0;      // seconds; 0: for ever
  uint8_t m_key_protection = 0;  // 0 to 3; 2: without the key not even a Get is answered

  // True if this port of a switch drops packets that its P_Key table does not permit.
  bool enforces_inbound = false;
  bool enforces_outbound = false;

  bool operator==(const PortInfo&) const = default;
};

// IsSM: a subnet manager runs at this port.
inline constexpr uint32_t kCapabilitySm = 0x00000002;
// IsCapabilityMask2Supported.
inline constexpr uint32_t kCapabilityMask2 = 0x00008000;
// IsVirtualizationSupported, of CapabilityMask2: virtual ports may be behind this one, with P_Key
// tables of their own (the kernel's IB_PORT_VIRT_SUP).
inline constexpr uint16_t kCapability2Virtual = 0x0004;

// A state that there is not reads as unknown.
Result<PortInfo> parse_port_info(const Data& data);
Data encode(const PortInfo& info);

}  // namespace ibpod::mad
