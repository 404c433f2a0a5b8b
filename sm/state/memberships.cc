#include "sm/state/memberships.h"

#include <algorithm>

namespace ibpod::sm::state {

std::optional<fabric::Membership> membership_in(const Memberships& memberships,
                                                const std::string& partition) {
  for (const fabric::PartitionMembership& membership : memberships)
    if (membership.partition == partition) return membership.membership;
  return std::nullopt;
}

bool contains(const Memberships& memberships, const fabric::PartitionMembership& membership) {
  return std::find(memberships.begin(), memberships.end(), membership) != memberships.end();
}

Memberships in_both(const Memberships& first, const Memberships& second) {
  Memberships common;
  for (const fabric::PartitionMembership& membership : first)
    if (contains(second, membership)) common.push_back(membership);
  return common;
}

Memberships only_in_first(const Memberships& first, const Memberships& second) {
  Memberships rest;
  for (const fabric::PartitionMembership& membership : first)
    if (!contains(second, membership)) rest.push_back(membership);
  return rest;
}

size_t entries_needed(fabric::Membership membership) {
  return membership == fabric::Membership::both ? 2 : 1;
}

std::vector<ib::PKey> keys_of(ib::PKey pkey, fabric::Membership membership) {
  const ib::PKey limited(pkey.partition());
  const ib::PKey full(static_cast<uint16_t>(pkey.partition() | 0x8000));
  if (membership == fabric::Membership::limited) return {limited};
  if (membership == fabric::Membership::full) return {full};
  return {limited, full};
}

}  // namespace ibpod::sm::state
