// Index 0 of a port's P_Key table: one partition at most can have it. IPoIB on the port itself uses
// only this index (docs/kernel-notes.md), so children never take it from the interface of the PF.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/state/records.h"

namespace ibpod::sm::partitions {

// busy if another partition than this one has, or will have, index 0 of the port's table.
Status check_index0_is_free(const state::Records& records, ib::Guid guid,
                            const std::string& partition);
// The same for each port that a binding, which is no child, has brought into the partition.
Status check_index0_of_bindings(const state::Records& records,
                                const state::PartitionRecord& record);

// The state of index 0 of a port's table without the partitions of ibpod-sm.
struct Index0Facts {
  bool is_sm_port = false;  // the port of the subnet manager
  std::optional<ib::PKey> key =
      {};  // that the default or the administrator's partitions need there
};
// invalid on the subnet manager's port, busy if the administrator's partition has index 0, if one
// of the requested partitions needs it. If the subnet manager rejected the partitions because of
// this binding, no other could be enforced either.
Status check_index0_of_others(const state::Records& records, const fabricapi::BindRequest& request,
                              const Index0Facts& facts);
// busy if two partitions would need index 0; invalid if both are in `memberships`. `except`: the
// binding that is changed; null for a new one.
Status check_index0(const state::Records& records, const fabricapi::BindRequest& request,
                    const state::Memberships& memberships, const state::BindingRecord* except);

}  // namespace ibpod::sm::partitions
