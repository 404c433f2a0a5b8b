// DesiredKeys: the keys that the partitions require in each port's P_Key table.
#pragma once

#include "lib/fabric/end_port.h"
#include "lib/fabric/partition_definition.h"
#include "lib/ib/pkey.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace ibpod::sm::verify {

// The desired keys of one port.
struct DesiredTable {
  std::vector<ib::PKey> keys;      // all 16 bits of each; sorted, unique
  std::optional<ib::PKey> index0;  // the one of `keys` that must be at index 0
  bool operator==(const DesiredTable&) const = default;
  // The preferred key for index 0: `index0`, else the default partition's, which may also be
  // elsewhere. Nothing: neither is desired.
  std::optional<ib::PKey> first() const;
  // The same keys at any index, as in the table of a switch port.
  DesiredTable anywhere() const { return {.keys = keys, .index0 = {}}; }
};

class DesiredKeys {
 public:
  DesiredKeys() = default;
  // `definitions`: all partitions of the fabric, including the administrator's own.
  explicit DesiredKeys(const std::vector<fabric::PartitionDefinition>& definitions);

  DesiredTable of(const fabric::EndPort& port) const;
  // The ports that partitions name.
  std::vector<ib::Guid> named() const;

 private:
  struct Hash {
    size_t operator()(ib::Guid guid) const { return std::hash<uint64_t>()(guid.value()); }
  };
  struct Entry {
    ib::PKey key;
    bool index0;
  };

  void add(const fabric::PartitionDefinition& definition, const fabric::Member& member);

  // The few definitions that name groups of ports.
  std::vector<fabric::PartitionDefinition> of_groups_;
  // The keys of all other definitions.
  std::unordered_map<ib::Guid, std::vector<Entry>, Hash> of_ports_;
};

}  // namespace ibpod::sm::verify
