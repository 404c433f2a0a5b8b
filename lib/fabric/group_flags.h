// GroupFlags: what OpenSM gives a multicast group that it makes beforehand, as a partition's IPoIB
// broadcast group (osm_prtn_config.c, struct group_flags; MCMemberRecord, IBA 1.4, volume
// 1, 15.2.5.17).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ibpod::fabric {

// Numbered as in MCMemberRecord and in partitions.conf; the names are bytes.
enum class Mtu : uint8_t { mtu_256 = 1, mtu_512, mtu_1024, mtu_2048, mtu_4096 };
std::optional<Mtu> mtu_of(uint64_t code);

// A static rate, numbered as in MCMemberRecord and in partitions.conf: 3 is 10 Gb/s. Not in order:
// 5 is 5 Gb/s, and what came to InfiniBand later stands behind. kLastRate is 600 Gb/s, the greatest
// that OpenSM 3.3 makes a group with (ib_types.h, IB_MAX_RATE).
enum class Rate : uint8_t {};
inline constexpr Rate kFirstRate{2}, kDefaultRate{3}, kLastRate{22};
std::optional<Rate> rate_of(uint64_t code);
// In Gb/s: "2.5", "10" ...
std::string gbps(Rate rate);

inline constexpr uint8_t kMostSl = 15;               // 4 bits
inline constexpr uint8_t kMostScope = 15;            // 4 bits; 0 is none
inline constexpr uint32_t kMostFlowLabel = 0xfffff;  // 20 bits

// As OpenSM has them where partitions.conf says nothing (osm_base.h, OSM_DEFAULT_MGRP_MTU and its
// like).
struct GroupFlags {
  Mtu mtu = Mtu::mtu_2048;
  Rate rate = kDefaultRate;
  uint8_t sl = 0;
  uint16_t scopes = 0;  // bit n: scope n. One group for each; none: link-local, which is 2
  uint32_t q_key = 0;   // 0: 0x0b1b for IP groups
  uint8_t tclass = 0;
  uint32_t flow_label = 0;
  bool operator==(const GroupFlags&) const = default;
};

}  // namespace ibpod::fabric
