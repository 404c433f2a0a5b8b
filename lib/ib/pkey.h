// PKey: a partition key, 15 bits of partition and one of membership (IBA 1.4, volume 1, 10.9).
#pragma once

#include "lib/base/result.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::ib {

enum class Membership { limited, full };
std::string_view name(Membership membership);

class PKey {
 public:
  constexpr PKey() = default;
  // All 16 bits; bit 15 set: full member.
  constexpr explicit PKey(uint16_t value) : value_(value) {}

  // Reads 0x1, 0x0001, 0x8001 or a single digit. A bare number such as 1000 is refused, because
  // readers disagree whether it is 0x03e8 or 0x1000; the refusal names both, in a form that is
  // accepted.
  static Result<PKey> parse(std::string_view text);
  // Reads a partition's number: 0x0001 to 0x7fff, as bit 15 belongs to each member.
  static Result<PKey> parse_partition(std::string_view text);
  // Reads a P_Key that check_tenant() accepts: 0x0001 to 0x7ffe.
  static Result<PKey> parse_tenant(std::string_view text);
  // A JSON number, 0 to 65535.
  static Result<PKey> from_number(int64_t number);

  constexpr uint16_t value() const { return value_; }
  // The 15 bits that name the partition.
  constexpr uint16_t partition() const { return value_ & 0x7fff; }
  constexpr Membership membership() const {
    return (value_ & 0x8000) != 0 ? Membership::full : Membership::limited;
  }
  constexpr bool same_partition(PKey other) const { return partition() == other.partition(); }
  // 0x8001
  std::string text() const;

  constexpr auto operator<=>(const PKey&) const = default;

 private:
  uint16_t value_ = 0;
};

inline constexpr PKey kDefaultFull{0xffff};

// A key that a port can have. Partition 0 is invalid (IBA 10.9.1.2): it marks a free entry.
Status check_member(PKey key);
// A key that ibpod may assign: check_member(), and not 0x7fff, the default partition of every port.
Status check_tenant(PKey key);

// A port's P_Key table in index order; 0x0000 and 0x8000 are free entries.
using PKeyTable = std::vector<PKey>;
// 32 blocks: more than any adapter has. A node reports its count in 16 bits
// (NodeInfo.PartitionCap), which cannot be trusted.
inline constexpr int kMostTableEntries = 1024;

// The index at which the table has the wanted partition. A wanted key with bit 15 set needs full
// membership; without it any membership serves, full preferred.
std::optional<size_t> find_in(const PKeyTable& table, PKey wanted);

// "0:0x8001 3:0xffff", without the free entries; "empty" if all are free.
std::string text(const PKeyTable& table);

}  // namespace ibpod::ib
