// State: the records of ibpod-sm in memory. It keeps their indexes consistent, and checks no
// permissions. After a failed write it is read again from the store.
#pragma once

#include "sm/state/records.h"

#include <utility>

namespace ibpod::sm::state {

// Only State changes the records that records() returns. Fields without an index may be changed in
// place.
class State {
 public:
  State() = default;
  // Records point at each other.
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const Records& records() const { return records_; }

  // Null if there is none.
  BindingRecord* find_binding(const fabric::Attachment& attachment);
  PartitionRecord* find_partition(const std::string& name);
  // These add the record if there is none.
  PortRecord& port(ib::Guid guid);
  NodeRecord& node(const std::string& name);
  // Calls `visit` for each record; it may remove the record.
  template <typename Visit>
  void for_each_partition(const Visit& visit) {
    for (auto at = records_.partitions.begin(); at != records_.partitions.end();)
      visit((at++)->second);
  }
  template <typename Visit>
  void for_each_binding(const Visit& visit) {
    for (auto at = records_.bindings.begin(); at != records_.bindings.end();) visit((at++)->second);
  }

  // Call refresh() after each of these to update the engine members.
  BindingRecord& add(fabric::Binding binding, Memberships former);
  void remove(BindingRecord& entry, Steady now);
  PartitionRecord& add(fabric::Partition partition);
  void remove(PartitionRecord& record);
  void set_members(PartitionRecord& record, std::vector<fabric::StaticMember> members);
  void set_former_member(PartitionRecord& record, ib::Guid guid, bool is_former);
  void set_memberships(BindingRecord& entry, Memberships desired, Memberships applied,
                       Memberships pending_removal);

  void assign_guid(ib::Guid guid, const VfSlot& place);
  void claim(ib::Guid guid, const std::string& node);
  // Removes its GUIDs and claims, too.
  void remove_node(const std::string& node);
  // Forgets GUIDs that were released before this time.
  void forget_released(Steady before);
  void set_last_pkey(uint16_t pkey) { records_.last_pkey = pkey; }
  void set_last_guid(ib::Guid guid) { records_.guids.last = guid; }

  void renew_lease(BindingRecord& entry, Steady end);
  void end_lease(BindingRecord& entry);

  // Updates the port's membership in each partition as of version `next`, and removes the port if
  // nothing names it. Returns true if that changed anything.
  bool refresh(ib::Guid guid, uint64_t next);
  // Updates `requested` and `unsettled` after a change of binding states alone.
  void update_unsettled(ib::Guid guid);
  // Copies observations from `before` for records that are the same in both. Returns the bindings
  // that differ.
  std::vector<const BindingRecord*> keep_observations(const Records& before);

 private:
  Records records_;
};

}  // namespace ibpod::sm::state
