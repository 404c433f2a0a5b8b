#include "lib/attach/ipam_allocation.h"

namespace ibpod::attach {

Result<cni::AddResult> IpamAllocation::allocate(const Context& context, Deadline deadline) {
  Result<cni::AddResult> result = timed(context, "IPAM ADD", [&] { return ipam_->add(deadline); });
  // Only one that says no in words has surely reserved nothing.
  const bool refused = !result && result.error().code() == Code::denied;
  reservation_ = refused ? Reservation::refused : Reservation::perhaps;
  return result;
}

}  // namespace ibpod::attach
