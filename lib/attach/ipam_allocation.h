// IpamAllocation: what one ADD has asked of its network's IPAM, and what it owes it then.
#pragma once

#include "lib/attach/context.h"
#include "lib/cni/ipam.h"
#include "lib/cni/result.h"

#include <optional>

namespace ibpod::attach {

class IpamAllocation {
 public:
  // `ipam` has to outlive it; nothing: the network has none.
  explicit IpamAllocation(const std::optional<cni::Ipam>& ipam) : ipam_(ipam) {}

  bool is_configured() const { return ipam_.has_value(); }
  // Only where it is wanted.
  Result<cni::AddResult> allocate(const Context& context, Deadline deadline);
  // It was asked for addresses, and may have reserved some.
  bool was_requested() const { return reservation_ != Reservation::nothing; }
  // It has refused in words.
  bool was_refused() const { return reservation_ == Reservation::refused; }

 private:
  enum class Reservation { nothing, refused, perhaps };
  const std::optional<cni::Ipam>& ipam_;
  Reservation reservation_ = Reservation::nothing;
};

}  // namespace ibpod::attach
