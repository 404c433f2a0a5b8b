// Index 0 of a port's P_Key table: at most one partition has it. IPoIB on the port itself uses only
// this index (docs/kernel-notes.md), so a child never takes it from the PF's interface.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/state/records.h"

namespace ibpod::sm::partitions {

// busy if another partition than this one has, or will have, index 0 of the port's table.
Status check_index0_is_free(const state::Records& records, ib::Guid guid,
                            const std::string& partition);
// check_index0_is_free() for each port with a binding in the partition; IPoIB children do not
// count.
Status check_index0_of_bindings(const state::Records& records,
                                const state::PartitionRecord& record);

// Index 0 of a port's table, apart from the partitions of ibpod-sm.
struct Index0Facts {
  bool is_sm_port = false;  // the port of the subnet manager
  std::optional<ib::PKey> key =
      {};  // needed there by the default partition or by the administrator's
};
// Checks the requested partitions that need index 0: invalid on the subnet manager's port, busy if
// an administrator's partition has the index. Otherwise the subnet manager could reject all
// partitions because of this binding.
Status check_index0_of_others(const state::Records& records, const fabricapi::BindRequest& request,
                              const Index0Facts& facts);
// busy if two partitions would need index 0; invalid if both are in `memberships`. `except`: the
// binding that is changed; null for a new one.
Status check_index0(const state::Records& records, const fabricapi::BindRequest& request,
                    const state::Memberships& memberships, const state::BindingRecord* except);

}  // namespace ibpod::sm::partitions
