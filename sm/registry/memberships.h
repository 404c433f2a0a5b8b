// Shares as sets: no partition comes twice in one of them.
#pragma once

#include "lib/fabric/binding.h"

#include <optional>
#include <vector>

namespace ibpod::sm {

using Shares = std::vector<fabric::Share>;

std::optional<fabric::Membership> membership_in(const Shares& shares, const std::string& partition);
// Other membership is another share.
bool contains(const Shares& shares, const fabric::Share& share);
// In the order of the first.
Shares in_both(const Shares& first, const Shares& second);
Shares only_in_first(const Shares& first, const Shares& second);

// How many places of a P_Key table it takes.
size_t places(fabric::Membership membership);
// What stands in them; of both the full one last.
std::vector<ib::PKey> keys_of(ib::PKey pkey, fabric::Membership membership);

}  // namespace ibpod::sm
