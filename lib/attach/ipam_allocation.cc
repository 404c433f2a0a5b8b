#include "lib/attach/ipam_allocation.h"

namespace ibpod::attach {

Result<cni::AddResult> Lease::ask(const Context& context, Deadline deadline) {
  Result<cni::AddResult> result = timed(context, "IPAM ADD", [&] { return ipam_->add(deadline); });
  // Only one that says no in words has surely reserved nothing.
  const bool refused = !result && result.error().code() == Code::denied;
  reserved_ = refused ? Reserved::refused : Reserved::perhaps;
  return result;
}

}  // namespace ibpod::attach
