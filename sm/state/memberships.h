// Sets of memberships, with each partition at most once.
#pragma once

#include "lib/fabric/binding.h"

#include <optional>
#include <vector>

namespace ibpod::sm::state {

using Memberships = std::vector<fabric::PartitionMembership>;

std::optional<fabric::Membership> membership_in(const Memberships& memberships,
                                                const std::string& partition);
// True if partition and membership are in the set.
bool contains(const Memberships& memberships, const fabric::PartitionMembership& membership);
// The common memberships, in the order of `first`.
Memberships in_both(const Memberships& first, const Memberships& second);
Memberships only_in_first(const Memberships& first, const Memberships& second);

// The number of P_Key table entries of a membership.
size_t entries_needed(fabric::Membership membership);
// The keys of these entries; for `both` the full one is last.
std::vector<ib::PKey> keys_of(ib::PKey pkey, fabric::Membership membership);

}  // namespace ibpod::sm::state
