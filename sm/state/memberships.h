// Sets of memberships: each partition at most once.
#pragma once

#include "lib/fabric/binding.h"

#include <optional>
#include <vector>

namespace ibpod::sm::state {

using Memberships = std::vector<fabric::PartitionMembership>;

std::optional<fabric::Membership> membership_in(const Memberships& memberships,
                                                const std::string& partition);
// Compares partition and membership.
bool contains(const Memberships& memberships, const fabric::PartitionMembership& membership);
// In the order of the first.
Memberships in_both(const Memberships& first, const Memberships& second);
Memberships only_in_first(const Memberships& first, const Memberships& second);

// Entries of a P_Key table that it takes.
size_t entries_needed(fabric::Membership membership);
// The keys of these entries; of `both` the full one last.
std::vector<ib::PKey> keys_of(ib::PKey pkey, fabric::Membership membership);

}  // namespace ibpod::sm::state
