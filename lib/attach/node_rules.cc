#include "lib/attach/node_rules.h"

namespace ibpod::attach {

Status check_isolation(const Context& context) {
  const nl::RdmaNetnsMode mode = TRY(context.kernel.rdma_netns_mode());
  if (mode == nl::RdmaNetnsMode::exclusive) return ok();
  return Error(Code::unsupported,
               "rdmaIsolation: this node's RDMA subsystem is in shared mode, where every pod sees "
               "every RDMA device. "
               "Put \"options ib_core netns_mode=0\" into /etc/modprobe.d and reboot, or set "
               "rdmaIsolation to false");
}

Result<bool> is_own_namespace(const Context& context, const node::Namespace& where) {
  const std::optional<node::Namespace> own =
      TRY(context.kernel.find_namespace("/proc/self/ns/net"));
  return own && own->identity == where.identity;
}

}  // namespace ibpod::attach
