// Wanted: the keys that the P_Key table of every port should hold, as the partitions say.
#pragma once

#include "lib/fabric/end_port.h"
#include "lib/fabric/partition_definition.h"
#include "lib/ib/pkey.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace ibpod::sm::tables {

// Of one port.
struct DesiredTable {
  std::vector<ib::PKey> keys;      // all 16 bits of each; sorted, none twice
  std::optional<ib::PKey> index0;  // one of them: has to be at index 0
  bool operator==(const DesiredTable&) const = default;
  // What belongs at index 0: the key that has to be there, or else the default partition's, which
  // may be elsewhere. Nothing: neither is wanted.
  std::optional<ib::PKey> first() const;
  // The same keys, at whatever index: so a switch port's table holds them.
  DesiredTable anywhere() const { return {.keys = keys, .index0 = {}}; }
};

class DesiredKeys {
 public:
  DesiredKeys() = default;
  // All partitions of the fabric, the administrator's own among them.
  explicit DesiredKeys(const std::vector<fabric::PartitionDefinition>& definitions);

  DesiredTable of(const fabric::EndPort& port) const;
  // The ports that some partition names.
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

  // Those that speak of groups of ports, too: few.
  std::vector<fabric::PartitionDefinition> of_groups_;
  // The keys of all others, by port.
  std::unordered_map<ib::Guid, std::vector<Entry>, Hash> of_ports_;
};

}  // namespace ibpod::sm::tables
