// PartitionAdmission: decides which partitions may be created and changed, and chooses their
// P_Keys. It changes nothing.
//
// Errors: invalid if the partition can never be granted; busy if a binding, a limit or another
// partition is in the way; exists if the name or the P_Key is in use.
#pragma once

#include "lib/fabric/partition.h"
#include "sm/state/journal.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace ibpod::sm::partitions {

class PartitionAdmission {
 public:
  // `journal` outlives it.
  explicit PartitionAdmission(const state::Journal& journal) : journal_(journal) {}

  // Sets the P_Keys (15 bits) that the administrator's section uses: no partition gets one of them.
  void reserve_pkeys(std::set<uint16_t> pkeys) { reserved_pkeys_ = std::move(pkeys); }

  // These return the partition with its P_Key. A new one gets the P_Key that it requests, from a
  // range with RangeUse::by_request, or else the next one of the pool; later it never changes.
  Result<fabric::Partition> admit_new(const fabric::Partition& desired) const;
  Result<fabric::Partition> admit_change(const state::PartitionRecord& record,
                                         const fabric::Partition& desired) const;

 private:
  const state::Records& records() const { return journal_.records(); }
  const state::Policy& policy() const { return journal_.policy(); }
  Status check_partition(const fabric::Partition& partition) const;
  Result<ib::PKey> pkey_for(const fabric::Partition& partition) const;

  const state::Journal& journal_;
  std::set<uint16_t> reserved_pkeys_;
};

// busy while a binding uses the partition, or a released one may still have its key.
Status check_unused(const state::PartitionRecord& record);
// not_found if there is no such partition, denied if a file declares it. `record`: null if there is
// none.
Status check_administered(const state::PartitionRecord* record, const std::string& name);

}  // namespace ibpod::sm::partitions
