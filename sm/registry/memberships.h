// Shares as sets: no partition comes twice in one of them.
#pragma once

#include "lib/fabric/binding.h"

#include <optional>
#include <vector>

namespace ibpod::sm::registry {

using Memberships = std::vector<fabric::PartitionMembership>;

std::optional<fabric::Membership> membership_in(const Memberships& memberships,
                                                const std::string& partition);
// Other membership is another share.
bool contains(const Memberships& memberships, const fabric::PartitionMembership& membership);
// In the order of the first.
Memberships in_both(const Memberships& first, const Memberships& second);
Memberships only_in_first(const Memberships& first, const Memberships& second);

// How many places of a P_Key table it takes.
size_t entries_needed(fabric::Membership membership);
// What stands in them; of both the full one last.
std::vector<ib::PKey> keys_of(ib::PKey pkey, fabric::Membership membership);

}  // namespace ibpod::sm::registry
