#include "lib/attach/status.h"

#include "lib/attach/addresses.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

Status check_ipam(const Context& context, Deadline deadline) {
  const std::optional<cni::Ipam> ipam = TRY(ipam_of(context));
  if (!ipam) return ok();
  TRY(ipam->check_version(deadline));
  const std::vector<cni::Version> versions = TRY(ipam->versions(deadline));
  const bool knows = std::find(versions.begin(), versions.end(), cni::kNewest) != versions.end();
  return knows ? ipam->status(deadline) : ok();
}

}  // namespace

Status status(const Context& context, bool isolation, Duration timeout) {
  const Deadline deadline = Deadline::in(timeout);
  TRY(context.records.check_writable().during("stateDir: no attachment can be recorded"));
  const nl::RdmaNetnsMode mode = TRY(context.kernel.rdma_netns_mode());
  if (isolation && mode == nl::RdmaNetnsMode::shared) {
    return Error(Code::unsupported,
                 "rdmaIsolation: this node's RDMA subsystem is in shared mode: put \"options "
                 "ib_core netns_mode=0\" "
                 "into /etc/modprobe.d and reboot");
  }
  return check_ipam(context, deadline).during("IPAM");
}

}  // namespace ibpod::attach
