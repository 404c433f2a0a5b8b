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
  // Gives back whatever IPAM may have reserved, also for an attachment whose record a DEL has taken
  // away. Success where nobody has asked. An IPAM that has refused the ADD in words and refuses the
  // DEL as well is a warning: it keeps no VF out of service.
  Status give_back(const Context& context) const;

 private:
  enum class Reserved { nothing, refused, perhaps };
  const std::optional<cni::Ipam>& ipam_;
  Reserved reserved_ = Reserved::nothing;
};

}  // namespace ibpod::attach
