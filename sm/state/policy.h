// Policy: the settings of ibpod-sm's configuration for the whole fabric. They do not change during
// the life of the Journal.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/fabric/cluster_names.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partitions_conf.h"
#include "lib/ib/guid.h"
#include "sm/pool/guid_pool.h"
#include "sm/pool/pkey_pool.h"

#include <map>
#include <set>
#include <string>

namespace ibpod::sm::state {

// The result of a lease's end without a call by the node. hold: its bindings become `unknown` and
// keep keys and GUIDs. revoke: they are released, although pods may still run.
enum class LeasePolicy { hold, revoke };

// Bytes of partitions.conf that nodes cannot use up: for static members, the partitions themselves
// and the administrator's section.
inline constexpr size_t kReservedBytes = fabric::kMostBytes / 4;

// Limits of the state's size. A membership is one port in one partition, by bindings.
struct RegistryLimits {
  size_t bindings = 200'000;
  size_t bindings_of_node = 4'096;
  size_t partitions = 10'000;
  size_t members = 10'000;  // static members of a partition
  size_t nodes = 20'000;
  size_t guids_of_node = 4'096;        // assigned to it by the pool
  size_t pfs_of_node = 64;             // claimed by it
  size_t memberships_of_binding = 64;  // of a binding
  size_t memberships = (fabric::kMostBytes - kReservedBytes) / fabric::kMostMemberBytes;
  // 64 VFs in 16 partitions each.
  size_t memberships_of_node = 1'024;
  // Bindings of a node on ports that no scan has ever found.
  size_t unseen_of_node = 256;
};

struct Policy {
  pool::PKeyPool pkeys = pool::PKeyPool::make({}).value();
  pool::GuidPool guids = pool::GuidPool::make({}).value();
  // The first definition for the subnet manager.
  fabric::PartitionDefinition default_rule = fabric::default_definition();
  // Defaults of partitions.
  bool ipoib = false;
  fabric::GroupFlags group;
  // Values that the subnet manager cannot be given, and why, for errors: "needs
  // opensm.allowBothPkeys". Empty: it can.
  struct Unsupported {
    std::string both;   // a membership
    std::string sl;     // a service level other than 0
    std::string group;  // a partition's mtu and rate
  };
  Unsupported unsupported;

  // The clusters whose nodes may call.
  fabric::ClusterNames clusters;

  // Ports of a node that the pool did not assign.
  struct NodePorts {
    std::set<ib::Guid> guids;  // its VFs
    std::set<ib::Guid> pfs;    // ports whose IPoIB children it may bind
    bool operator==(const NodePorts&) const = default;
  };
  std::map<std::string, NodePorts> nodes;
  // All GUIDs of `nodes`. The Journal sets it, so that a lookup need not search all nodes.
  std::set<ib::Guid> guids_of_nodes;
  // A PF port without an owner is assigned to the first node that binds a child on it, until that
  // node is forgotten. Not with nodes of several clusters, of which each could take the PFs of the
  // others.
  bool pfs_by_first_claim = false;

  Duration lease = std::chrono::minutes(10);
  LeasePolicy at_lease_end = LeasePolicy::hold;
  RegistryLimits limits;
};

// invalid if a GUID is listed twice or is not a port GUID, if the lease is not positive, or if PFs
// are by first claim with several clusters.
Status check(const Policy& policy);

}  // namespace ibpod::sm::state
