// Records as bytes of the store (sm/state/stored.proto). Parsing returns invalid for anything that
// to_bytes() cannot have written.
#pragma once

#include "lib/base/result.h"
#include "sm/state/records.h"

#include <string>

namespace ibpod::sm::state {

struct StoredBinding {
  fabric::Binding binding;
  Memberships pending_removal;
};
std::string to_bytes(const BindingRecord& entry);
Result<StoredBinding> binding_from(const std::string& bytes);

struct StoredPartition {
  fabric::Partition partition;
  bool declared = false;
  bool deleting = false;
  std::set<ib::Guid> former_members;
};
std::string to_bytes(const PartitionRecord& record);
Result<StoredPartition> partition_from(const std::string& bytes);

struct StoredNode {
  bool forgetting = false;
  std::set<ib::Guid> pfs;
  std::string boot = {};
};
std::string to_bytes(const NodeRecord& node);
Result<StoredNode> node_from(const std::string& bytes);

std::string to_bytes(const VfSlot& place);
Result<VfSlot> vf_slot_from(const std::string& bytes);

std::string last_to_bytes(uint64_t last);
Result<uint64_t> last_from(const std::string& bytes);

}  // namespace ibpod::sm::state
