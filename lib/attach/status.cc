#include "lib/attach/status.h"

#include "lib/attach/addresses.h"

namespace ibpod::attach {
namespace {

Status check_ipam(const Context& context, Deadline deadline) {
  const std::optional<cni::Ipam> ipam = TRY(ipam_of(context, context.network));
  if (!ipam) return ok();
  TRY(ipam->check_version(deadline));
  const bool knows = TRY(ipam->speaks(cni::kNewest, deadline));
  return knows ? ipam->status(deadline) : ok();
}

}  // namespace

Status status(const Context& context, const Status& node, Duration timeout) {
  const Deadline deadline = Deadline::in(timeout);
  TRY(context.records.check_writable().during("stateDir: no attachment can be recorded"));
  if (!node) return node;
  return check_ipam(context, deadline).during("IPAM");
}

}  // namespace ibpod::attach
