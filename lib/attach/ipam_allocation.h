// Lease: what one ADD has asked of its network's IPAM, and what it owes it then.
#pragma once

#include "lib/attach/context.h"
#include "lib/cni/ipam.h"
#include "lib/cni/result.h"

#include <optional>

namespace ibpod::attach {

class Lease {
 public:
  // `ipam` has to outlive it; nothing: the network has none.
  explicit Lease(const std::optional<cni::Ipam>& ipam) : ipam_(ipam) {}

  bool wanted() const { return ipam_.has_value(); }
  // Only where it is wanted.
  Result<cni::AddResult> ask(const Context& context, Deadline deadline);
  // It was asked for addresses, and may have reserved some.
  bool asked() const { return reserved_ != Reserved::nothing; }
  // It has refused in words.
  bool refused() const { return reserved_ == Reserved::refused; }

 private:
  enum class Reserved { nothing, refused, perhaps };
  const std::optional<cni::Ipam>& ipam_;
  Reserved reserved_ = Reserved::nothing;
};

}  // namespace ibpod::attach
