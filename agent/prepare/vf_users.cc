#include "agent/prepare/vf_users.h"

#include "lib/node/vf.h"

#include <string>
#include <vector>

namespace ibpod::agent::prepare {
namespace {

std::string text(const node::RdmaUser& user) {
  if (!user.module.empty()) return "the kernel module " + user.module + " has queue pairs on it";
  if (user.process == 0) return "a process that is ending has its RDMA device open";
  return "process " + std::to_string(user.process) + " has its RDMA device open: end it";
}

Status check_rdma_users(node::Kernel& kernel, const ib::PciAddress& vf) {
  const std::vector<node::RdmaUser> users =
      TRY(kernel.rdma_users(vf).during("cannot see who uses its RDMA device"));
  return users.empty() ? ok() : Status(in_use(text(users.front())));
}

Status check_pod(const PrepareDeps& deps, const ib::PciAddress& vf) {
  if (!deps.pod_of) return ok();
  const std::optional<std::string> pod =
      TRY(deps.pod_of(vf).during("cannot see whether a pod has it"));
  return pod ? Status(in_use("the kubelet has given it to pod " + *pod)) : ok();
}

}  // namespace

Status check_unused(const PrepareDeps& deps, const VfState& vf) {
  const std::optional<std::string>& driver = vf.function.driver;
  if (driver && node::is_vfio(*driver)) {
    return in_use("it is bound to " + *driver +
                  ", perhaps for a virtual machine: if there is none, unbind it (echo " +
                  vf.function.address.text() + " > /sys/bus/pci/drivers/" + *driver + "/unbind)");
  }
  if (driver) TRY(check_idle(deps.kernel, vf));
  if (driver) TRY(check_rdma_users(deps.kernel, vf.function.address));
  return check_pod(deps, vf.function.address);
}

}  // namespace ibpod::agent::prepare
