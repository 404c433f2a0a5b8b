// Partition: a partition as its administrator defines it, the namespaces and nodes that may use it,
// and its members besides pods. OpenSM is given a PartitionDefinition (partition_definition.h).
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/binding.h"
#include "lib/fabric/group_flags.h"
#include "lib/fabric/namespaces.h"
#include "lib/fabric/node_patterns.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::fabric {

// A port outside Kubernetes: a storage server's.
struct StaticMember {
  ib::Guid guid;
  Membership membership = Membership::limited;
  std::string comment;  // whose it is, for people: at most 256 bytes, one line
  bool operator==(const StaticMember&) const = default;
};

struct Partition {
  std::string name;  // as PartitionDefinition::name
  // 0x0001 to 0x7ffe. Nothing only until it has been given one: then it is for ever.
  std::optional<ib::PKey> pkey;
  // For bindings that name none of their own.
  Membership membership = Membership::limited;
  bool index0 = false;
  // Nothing: the fabric's default.
  std::optional<bool> ipoib;
  std::optional<Mtu> mtu;
  std::optional<Rate> rate;
  std::optional<uint8_t> sl;
  Namespaces allowed;  // whose pods may be in it
  NodePatterns nodes;  // on which nodes
  // port: what only the node has seen is not enough. none: no proof is needed while the port is
  // not on the subnet.
  Proof proof = Proof::node;
  std::vector<StaticMember> members;  // no GUID comes twice
  bool operator==(const Partition&) const = default;
};

// provisioning: the subnet manager has not swept with it yet. deleting: it sweeps without it, or
// the keys of its members are still in their tables.
enum class PartitionState { provisioning, ready, deleting, error };
std::string_view name(PartitionState state);
std::optional<PartitionState> parse_partition_state(std::string_view text);

// A partition and its present state.
struct PartitionStatus {
  Partition spec;
  bool declared = false;  // in the file of declared partitions: read-only over the wire
  PartitionState state = PartitionState::provisioning;
  // In state ready: a problem of its static members, if there is one.
  Condition condition;
  size_t bindings = 0;
  bool operator==(const PartitionStatus&) const = default;
};

// invalid, naming field and value, for what no pool and no fabric could ever grant.
Status check(const Partition& partition);

bool allows(const Partition& partition, std::string_view name_space);
bool allows_node(const Partition& partition, std::string_view node);

}  // namespace ibpod::fabric
