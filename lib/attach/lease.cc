#include "lib/attach/lease.h"

namespace ibpod::attach {

Result<cni::AddResult> Lease::ask(const Context& context, Deadline deadline) {
  Result<cni::AddResult> result = timed(context, "IPAM ADD", [&] { return ipam_->add(deadline); });
  // Only one that says no in words has surely reserved nothing.
  const bool refused = !result && result.error().code() == Code::denied;
  reserved_ = refused ? Reserved::refused : Reserved::perhaps;
  return result;
}

Status Lease::give_back(const Context& context) const {
  if (reserved_ == Reserved::nothing) return ok();
  Status returned = timed(context, "IPAM DEL", [&] { return ipam_->del(Deadline::in(kUndoTime)); });
  const bool refused = !returned && returned.error().code() == Code::denied;
  if (reserved_ != Reserved::refused || !refused) return returned;
  context.warn("IPAM refused the DEL, too: " + returned.error().text());
  return ok();
}

}  // namespace ibpod::attach
