// Book: the ledger's entries and what finds them; all that is read anew from the store. It knows
// how entries hang together, and nothing of who may change them.
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
  // What it was told to be in before, and what may be in the port's table still. Empty: all of it
  // has been seen to be gone.
  Memberships pending_removal;
  // Not on disk, from here on.
  Steady lease_end{};
  bool missing_from_sync = false;  // a Sync has come since the lease was renewed, without it
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

// How OpenSM is to have a port in a partition.
struct EngineMember {
  fabric::Membership membership;
  // Where the partition asks for index 0: the port is in it by children alone, and the interface
  // that they are on goes by index 0.
  bool skip_index0;
  auto operator<=>(const EngineMember&) const = default;
};

struct PartitionRecord {
  fabric::Partition partition;
  bool declared = false;
  fabric::PartitionState state = fabric::PartitionState::provisioning;  // `deleting` is on disk
  fabric::Condition condition;
  // Ports outside Kubernetes that have been members, and whose tables may hold the key still.
  std::set<ib::Guid> former_members;
  // Not on disk, from here on.
  uint64_t version = 0;                                   // in which it last changed
  bool swept = false;                                     // that version
  std::set<const BindingRecord*, ByAttachment> bindings;  // which it is a share of, or has been
  std::map<ib::Guid, EngineMember> engine_members;        // members
  // Of its members, and of `leaving`: those that no look at the subnet has found since they became
  // members.
  std::set<ib::Guid> never_seen;
  Steady delete_began{};  // when it began to be deleted, as far as this process knows
  mutable std::optional<fabric::PartitionDefinition> rendered;  // made when it is asked for

  bool deleting() const { return state == fabric::PartitionState::deleting; }
};

// A port, as far as anything here names it.
struct PortRecord {
  using Memberships = std::vector<std::pair<PartitionRecord*, fabric::Membership>>;
  using EngineMembers = std::vector<std::pair<PartitionRecord*, EngineMember>>;
  std::vector<BindingRecord*> bindings;
  Memberships members;  // static ones
  EngineMembers
      engine_members;  // in no order that means anything, but the same one for the same members
  std::set<PartitionRecord*> former_member_of;
  uint64_t changed_in = 0;
  // In how many partitions its bindings are to be, and whose node's they are.
  size_t memberships = 0;
  std::string node;
  // Why it is not as it should be; Reason::none: nothing is known against it.
  fabric::Condition condition;
};

// To which VF the pool has given a GUID.
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
  // Not on disk, from here on.
  std::optional<Steady> last_contact;  // and the same for people:
  std::optional<fabric::WallTime> last_contact_wall;
  size_t bindings = 0;
  size_t guids = 0;
  size_t memberships = 0;  // of its ports
};

class State {
 public:
  State() = default;
  // Entries point at each other.
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
  // Ports with a binding that is `requested`; ports of which something has still to be seen.
  std::set<ib::Guid> requested, unsettled;
  // GUIDs that the pool must not give: all that have a port, a place or a claim.
  std::set<ib::Guid> guids_in_use;
  size_t membership_count = 0;     // of all ports
  size_t static_member_count = 0;  // of all partitions
  std::optional<uint16_t> last_pkey;
  std::optional<ib::Guid> last_guid;

  PartitionRecord* find_partition(const std::string& name);
  const PartitionRecord* find_partition(const std::string& name) const;
  const PortRecord* find_port(ib::Guid guid) const;
  PortRecord& port(ib::Guid guid);

  // Entries come and go with what finds them. What a port is told follows with refresh().
  BindingRecord& add(fabric::Binding binding, Memberships former);
  void remove(BindingRecord& entry);
  PartitionRecord& add(fabric::Partition partition);
  void remove(PartitionRecord& record);
  void set_members(PartitionRecord& record, std::vector<fabric::StaticMember> members);
  void assign_guid(ib::Guid guid, const VfSlot& place);
  void claim(ib::Guid guid, const std::string& node);
  // With the GUIDs and claims that it has.
  void remove_node(const std::string& node);

  // To be called around every change of shares, held and former.
  void index_memberships(BindingRecord& entry);
  void unindex_memberships(BindingRecord& entry);
  void renew_lease(BindingRecord& entry, Steady end);
  void end_lease(BindingRecord& entry);

  // Brings to the partitions what a port is to be told now, as of version `next`. Whether that is
  // anything else than before. The port goes if nothing names it.
  bool refresh(ib::Guid guid, uint64_t next);
  // How many partitions the port would be in with these, too, in place of those of `except`.
  size_t memberships_with(ib::Guid guid, const Memberships& added,
                          const BindingRecord* except) const;

  // What has to be seen of it, after a change of states alone.
  void update_unsettled(ib::Guid guid);

 private:
  void count_memberships(ib::Guid guid);
  PortRecord::EngineMembers desired_members(const PortRecord& port);
  static void update_engine_members(PortRecord::EngineMembers before,
                                    const PortRecord::EngineMembers& after, ib::Guid guid);
  void drop_if_unnamed(ib::Guid guid);
};

// Of an interface on the port of a PF, whose own interface keeps its place.
bool is_child(const fabric::Binding& binding);
// Every partition that the entry is in, was in, or is to be in.
Memberships all_memberships(const BindingRecord& entry);

}  // namespace ibpod::sm::registry
