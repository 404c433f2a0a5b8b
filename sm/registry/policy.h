// Policy: what an administrator has decided for all of the fabric, from ibpod-sm's configuration.
// It does not change while the Ledger lives.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partitions_conf.h"
#include "lib/ib/guid.h"
#include "sm/pool/guid_pool.h"
#include "sm/pool/pkey_pool.h"

#include <map>
#include <set>
#include <string>

namespace ibpod::sm::registry {

// What becomes of a node's bindings where the node is not heard of at all until their leases end.
// hold: they are `unknown`, keep keys and GUID, and nobody else gets them. revoke: they are
// released, though pods may run on.
enum class LeasePolicy { hold, revoke };

// Of the file's bytes so much is for what administrators put into it, whatever nodes do: static
// members, the partitions themselves, their own section.
inline constexpr size_t kReservedBytes = fabric::kMostBytes / 4;

// So that no caller, and no number of them, makes the ledger grow without end. A membership is a
// port in a partition, by bindings.
struct RegistryLimits {
  size_t bindings = 200'000;
  size_t bindings_of_node = 4'096;
  size_t partitions = 10'000;
  size_t members = 10'000;  // static ones, of a partition
  size_t nodes = 20'000;
  size_t guids_of_node = 4'096;        // that the pool has given it
  size_t pfs_of_node = 64;             // that it has claimed
  size_t memberships_of_binding = 64;  // of a binding
  size_t memberships = (fabric::kMostBytes - kReservedBytes) / fabric::kMostMemberBytes;
  // 64 VFs in 16 partitions each.
  size_t memberships_of_node = 1'024;
  // Bindings of a node on ports that no look at the subnet has ever found.
  size_t unseen_of_node = 256;
};

struct Policy {
  pool::PKeyPool pkeys = pool::PKeyPool::make({}).value();
  pool::GuidPool guids = pool::GuidPool::make({}).value();
  // The first of partitions().
  fabric::PartitionDefinition default_rule = fabric::default_definition();
  // Of partitions that say nothing of their own.
  bool ipoib = false;
  fabric::GroupFlags group;
  // OpenSM's option allow_both_pkeys: without it `both` would become full, so it is refused.
  bool both_allowed = true;
  // OpenSM's option qos: without it every SL becomes 0, so another one is refused.
  bool sl_allowed = true;

  // What a node has though the pool did not give it.
  struct NodePorts {
    std::set<ib::Guid> guids;  // of its VFs
    std::set<ib::Guid> pfs;    // ports whose IPoIB children it may bind
    bool operator==(const NodePorts&) const = default;
  };
  std::map<std::string, NodePorts> nodes;
  // All GUIDs of `nodes`; the Ledger fills it in, so that a lookup does not grow with the nodes.
  std::set<ib::Guid> guids_of_nodes;
  // A port of nobody's belongs, as a PF, to the first node that binds a child on it, until the node
  // is forgotten.
  bool pfs_by_first_claim = false;

  Duration lease = std::chrono::minutes(10);
  LeasePolicy at_lease_end = LeasePolicy::hold;
  RegistryLimits limits;
};

// invalid, naming what is wrong, where two nodes are given one GUID, or one that no port can have.
Status check(const Policy& policy);

}  // namespace ibpod::sm::registry
