// The records of the state, and their indexes. State (state.h) changes them.
#pragma once

#include "lib/fabric/partition.h"
#include "lib/fabric/partition_definition.h"
#include "sm/state/boot_id_tracker.h"
#include "sm/state/memberships.h"
#include "sm/state/now.h"

#include <map>
#include <set>
#include <tuple>

namespace ibpod::sm::state {

struct BindingRecord {
  fabric::Binding binding;
  // Former memberships whose keys the port's table may still hold. Empty: it holds none.
  Memberships pending_removal;
  // The rest is not stored.
  Steady lease_end{};
  bool missing_from_sync = false;  // the last Sync did not name it
  bool lease_expired = false;      // `unknown` because its lease has ended
};

struct ByAttachment {
  using is_transparent = void;
  bool operator()(const BindingRecord* a, const BindingRecord* b) const {
    return a->binding.attachment < b->binding.attachment;
  }
  bool operator()(const BindingRecord* a, const fabric::Attachment& b) const {
    return a->binding.attachment < b;
  }
  bool operator()(const fabric::Attachment& a, const BindingRecord* b) const {
    return a < b->binding.attachment;
  }
};

// A port's membership as OpenSM gets it.
struct EngineMember {
  fabric::Membership membership;
  // True if only children use the partition on this port, so that it must not take index 0 from the
  // PF's interface.
  bool skip_index0;
  auto operator<=>(const EngineMember&) const = default;
};

struct PartitionRecord {
  fabric::Partition partition;
  bool declared = false;
  fabric::PartitionState state = fabric::PartitionState::provisioning;  // `deleting` is on disk
  fabric::Condition condition;
  // Former static members whose tables may still hold the key.
  std::set<ib::Guid> former_members;
  // The rest is not stored.
  uint64_t version = 0;                                   // in which it last changed
  bool swept = false;                                     // a sweep has read that version
  std::set<const BindingRecord*, ByAttachment> bindings;  // of present and former members
  std::map<ib::Guid, EngineMember> engine_members;        // as in its definition
  // Members and former members that no scan has found since they became members.
  std::set<ib::Guid> never_seen;
  Steady delete_began{};  // when this process learned of its deletion
  mutable std::optional<fabric::PartitionDefinition> rendered;  // a cache

  bool deleting() const { return state == fabric::PartitionState::deleting; }
};

// A port that a binding or a partition names.
struct PortRecord {
  using Memberships = std::vector<std::pair<PartitionRecord*, fabric::Membership>>;
  using EngineMembers = std::vector<std::pair<PartitionRecord*, EngineMember>>;
  std::vector<BindingRecord*> bindings;
  Memberships members;           // as a static member
  EngineMembers engine_members;  // sorted in the same way
  std::set<PartitionRecord*> former_member_of;
  uint64_t changed_in = 0;
  // The number of partitions that its bindings request, and the node of these bindings.
  size_t memberships = 0;
  std::string node;
  // The fault of its table; Reason::none: no known fault.
  fabric::Condition condition;
};

// The VF that a GUID of the pool is assigned to.
struct VfSlot {
  std::string node;
  std::string pf;  // PCI address
  uint32_t vf = 0;
  auto operator<=>(const VfSlot&) const = default;
};

struct NodeRecord {
  bool forgetting = false;
  std::set<ib::Guid> pfs;  // claimed by the node
  BootIdTracker boot_ids = {};
  // The rest is not stored.
  std::optional<Steady> last_contact;  // and for display:
  std::optional<fabric::WallTime> last_contact_wall;
  size_t bindings = 0;
  size_t guids = 0;
  size_t memberships = 0;  // of all its ports
};

// The GUIDs that belong to a node or a pod.
struct GuidRecords {
  std::map<ib::Guid, VfSlot> assigned;
  std::map<VfSlot, ib::Guid> by_vf;
  std::map<ib::Guid, std::string> claims;  // PFs, by node
  // GUIDs that the pool must not assign: those of ports, of VF slots and of claims.
  std::set<ib::Guid> in_use;
  std::optional<ib::Guid> last;  // assigned last by the pool
  // When the last binding of each pod-requested GUID was removed. Not stored.
  std::map<ib::Guid, Steady> released;
};

struct Records {
  std::map<fabric::Attachment, BindingRecord> bindings;
  std::map<std::string, PartitionRecord> partitions;
  std::map<uint16_t, PartitionRecord*> by_pkey;
  std::map<ib::Guid, PortRecord> ports;
  std::map<std::string, NodeRecord> nodes;
  GuidRecords guids;
  std::set<std::pair<Steady, BindingRecord*>> leases;
  // Ports with a `requested` binding; ports with a key that must still be added or removed.
  std::set<ib::Guid> requested, unsettled;
  size_t membership_count = 0;     // of all ports
  size_t static_member_count = 0;  // of all partitions
  std::optional<uint16_t> last_pkey;

  // Null if there is none.
  const BindingRecord* find_binding(const fabric::Attachment& attachment) const;
  const PartitionRecord* find_partition(const std::string& name) const;
  const PortRecord* find_port(ib::Guid guid) const;
  const NodeRecord* find_node(const std::string& name) const;
};

// True for an IPoIB child on the port of a PF.
bool is_child(const fabric::Binding& binding);
// Desired, applied and former memberships of the binding.
Memberships all_memberships(const BindingRecord& entry);
// The number of partitions of the port with `added` and without those of `except`.
size_t memberships_with(const Records& records, ib::Guid guid, const Memberships& added,
                        const BindingRecord* except);

}  // namespace ibpod::sm::state
