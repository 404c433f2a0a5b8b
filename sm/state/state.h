// State: the registry's records and their indexes; after a failed write it is read again from the
// store. It keeps the indexes consistent, and checks no permissions.
#pragma once

#include "lib/fabric/partition.h"
#include "lib/fabric/partition_definition.h"
#include "sm/registry/boot_id_tracker.h"
#include "sm/registry/memberships.h"

#include <chrono>
#include <map>
#include <set>
#include <tuple>

namespace ibpod::sm::registry {

using Steady = std::chrono::steady_clock::time_point;

struct BindingRecord {
  fabric::Binding binding;
  // Former memberships whose keys the port's table may still hold. Empty: it holds none.
  Memberships pending_removal;
  // The rest is not stored.
  Steady lease_end{};
  bool missing_from_sync = false;  // a Sync since the last renewal did not name it
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

// A port's membership as OpenSM is given it.
struct EngineMember {
  fabric::Membership membership;
  // True if only children use the partition on this port, so it must not take index 0 from the
  // interface of the PF.
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
  uint64_t version = 0;                                   // the version in which it last changed
  bool swept = false;                                     // a sweep has read that version
  std::set<const BindingRecord*, ByAttachment> bindings;  // present and former
  std::map<ib::Guid, EngineMember> engine_members;        // as rendered
  // Members and former members that no scan has found since they became members.
  std::set<ib::Guid> never_seen;
  Steady delete_began{};  // since when this process knows of its deletion
  mutable std::optional<fabric::PartitionDefinition> rendered;  // a cache

  bool deleting() const { return state == fabric::PartitionState::deleting; }
};

// A port that a binding or a partition names.
struct PortRecord {
  using Memberships = std::vector<std::pair<PartitionRecord*, fabric::Membership>>;
  using EngineMembers = std::vector<std::pair<PartitionRecord*, EngineMember>>;
  std::vector<BindingRecord*> bindings;
  Memberships members;           // static ones
  EngineMembers engine_members;  // the same order for the same members
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
  std::set<ib::Guid> pfs;  // claimed
  BootIdTracker boot_ids = {};
  // The rest is not stored.
  std::optional<Steady> last_contact;  // and for display:
  std::optional<fabric::WallTime> last_contact_wall;
  size_t bindings = 0;
  size_t guids = 0;
  size_t memberships = 0;  // of its ports
};

class State {
 public:
  State() = default;
  // Records point at each other.
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::map<fabric::Attachment, BindingRecord> bindings;
  std::map<std::string, PartitionRecord> partitions;
  std::map<uint16_t, PartitionRecord*> by_pkey;
  std::map<ib::Guid, PortRecord> ports;
  std::map<ib::Guid, VfSlot> assigned_guids;
  std::map<VfSlot, ib::Guid> by_vf;
  std::map<ib::Guid, std::string> claims;
  std::map<std::string, NodeRecord> nodes;
  std::set<std::pair<Steady, BindingRecord*>> leases;
  // Ports with a `requested` binding; ports with a key that must still be added or removed.
  std::set<ib::Guid> requested, unsettled;
  // GUIDs that the pool must not assign: those of ports, of VF slots and of claims.
  std::set<ib::Guid> guids_in_use;
  size_t membership_count = 0;     // of all ports
  size_t static_member_count = 0;  // of all partitions
  std::optional<uint16_t> last_pkey;
  std::optional<ib::Guid> last_guid;

  PartitionRecord* find_partition(const std::string& name);
  const PartitionRecord* find_partition(const std::string& name) const;
  const PortRecord* find_port(ib::Guid guid) const;
  PortRecord& port(ib::Guid guid);

  // These keep the indexes consistent. Call refresh() afterwards to update the engine members.
  BindingRecord& add(fabric::Binding binding, Memberships former);
  void remove(BindingRecord& entry);
  PartitionRecord& add(fabric::Partition partition);
  void remove(PartitionRecord& record);
  void set_members(PartitionRecord& record, std::vector<fabric::StaticMember> members);
  void assign_guid(ib::Guid guid, const VfSlot& place);
  void claim(ib::Guid guid, const std::string& node);
  // Removes its GUIDs and claims, too.
  void remove_node(const std::string& node);

  // Call these before and after each change of a binding's memberships.
  void index_memberships(BindingRecord& entry);
  void unindex_memberships(BindingRecord& entry);
  void renew_lease(BindingRecord& entry, Steady end);
  void end_lease(BindingRecord& entry);

  // Updates the port's membership in each partition as of version `next`. Returns true if that
  // changed anything. Removes the port if nothing names it.
  bool refresh(ib::Guid guid, uint64_t next);
  // The number of partitions of the port with `added`, and without those of `except`.
  size_t memberships_with(ib::Guid guid, const Memberships& added,
                          const BindingRecord* except) const;

  // Updates `requested` and `unsettled` after a change of binding states alone.
  void update_unsettled(ib::Guid guid);

 private:
  void count_memberships(ib::Guid guid);
  PortRecord::EngineMembers desired_members(const PortRecord& port);
  static void update_engine_members(PortRecord::EngineMembers before,
                                    const PortRecord::EngineMembers& after, ib::Guid guid);
  void drop_if_unnamed(ib::Guid guid);
};

// True for an IPoIB child on the port of a PF.
bool is_child(const fabric::Binding& binding);
// Desired, applied and former memberships of the binding.
Memberships all_memberships(const BindingRecord& entry);

}  // namespace ibpod::sm::registry
