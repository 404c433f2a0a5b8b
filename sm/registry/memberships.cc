#include "sm/registry/memberships.h"

#include <algorithm>

namespace ibpod::sm {

std::optional<fabric::Membership> membership_in(const Shares& shares,
                                                const std::string& partition) {
  for (const fabric::Share& share : shares)
    if (share.partition == partition) return share.membership;
  return std::nullopt;
}

bool contains(const Shares& shares, const fabric::Share& share) {
  return std::find(shares.begin(), shares.end(), share) != shares.end();
}

Shares in_both(const Shares& first, const Shares& second) {
  Shares common;
  for (const fabric::Share& share : first)
    if (contains(second, share)) common.push_back(share);
  return common;
}

Shares only_in_first(const Shares& first, const Shares& second) {
  Shares rest;
  for (const fabric::Share& share : first)
    if (!contains(second, share)) rest.push_back(share);
  return rest;
}

size_t places(fabric::Membership membership) {
  return membership == fabric::Membership::both ? 2 : 1;
}

std::vector<ib::PKey> keys_of(ib::PKey pkey, fabric::Membership membership) {
  const ib::PKey limited(pkey.partition());
  const ib::PKey full(static_cast<uint16_t>(pkey.partition() | 0x8000));
  if (membership == fabric::Membership::limited) return {limited};
  if (membership == fabric::Membership::full) return {full};
  return {limited, full};
}

}  // namespace ibpod::sm
