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

  // Reads 0x1, 0x0001 or 0x8001, and a single digit. A bare decimal such as 1000 is refused: it
  // reads as 0x03e8 to one and as 0x1000 to another, and the text of the refusal spells out both.
  // What a refusal says to write is read.
  static Result<PKey> parse(std::string_view text);
  // The same of a partition's: 0x0001 to 0x7fff, as bit 15 is each member's.
  static Result<PKey> parse_partition(std::string_view text);
  // The same of one that check_tenant() lets be given: not 0x7fff either.
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

// Two rules, as with GUIDs: a key that a port can have, and one that we may give. Partition 0 is
// invalid (IBA 10.9.1.2): it is a free place of a table.
Status check_member(PKey key);
// check_member(), and not 0x7fff, the default partition, which every port is in.
Status check_tenant(PKey key);

// A port's P_Key table in index order; 0x0000 and 0x8000 are free places.
using PKeyTable = std::vector<PKey>;
// 32 blocks: more than any adapter has. How many there are the node itself says, in 16 bits
// (NodeInfo.PartitionCap), and nobody vouches for it.
inline constexpr int kMostTableEntries = 1024;

// The index where the table holds the wanted partition. A wanted key with bit 15 set asks for full
// membership; without it any membership serves, full preferred.
std::optional<size_t> find_in(const PKeyTable& table, PKey wanted);

// "0:0x8001 3:0xffff", without the free places; "empty" if there are only those.
std::string text(const PKeyTable& table);

}  // namespace ibpod::ib
