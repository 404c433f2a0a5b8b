#include "agent/prepare/vf_users.h"

#include "lib/node/hidden_children.h"
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

Status check_children(node::Kernel& kernel, const ib::PciAddress& vf, Deadline deadline) {
  const bool hidden = TRY(node::has_hidden_children(kernel, vf, deadline));
  return hidden ? Status(in_use("it has an IPoIB child in another network namespace, or not every "
                                "namespace could be searched"))
                : ok();
}

Status check_virtual_machine(const VfState& vf) {
  const std::optional<std::string>& driver = vf.function.driver;
  if (!driver || !node::is_vfio(*driver)) return ok();
  return in_use("it is bound to " + *driver +
                ", perhaps for a virtual machine: if there is none, unbind it (echo " +
                vf.function.address.text() + " > /sys/bus/pci/drivers/" + *driver + "/unbind)");
}

// In shared mode every namespace shows the RDMA devices of the host, so they are looked for only
// where the host shows none.
Status check_nowhere_else(node::Kernel& kernel, const VfState& vf, Deadline deadline) {
  const ib::PciAddress& address = vf.function.address;
  bool found = false;
  const auto look = [&](const node::Namespace& where) -> Result<bool> {
    const std::vector<node::Netdev> netdevs = TRY(kernel.own_netdevs(where, address));
    found = !netdevs.empty();
    if (found || vf.shown) return found;
    const std::vector<std::string> devices = TRY(kernel.rdma_names(where, address));
    found = !devices.empty();
    return found;
  };
  const std::optional<Error> gap = TRY(kernel.each_namespace(deadline, look));
  if (found) return in_use("a device of it is in another network namespace");
  return gap ? Status(*gap).during(
                   "cannot see whether another network namespace has a device of it")
             : ok();
}

}  // namespace

Status check_pod(const PodOf& pod_of, const ib::PciAddress& vf) {
  if (!pod_of) return ok();
  const std::optional<std::string> pod = TRY(pod_of(vf).during("cannot see whether a pod has it"));
  return pod ? Status(in_use("the kubelet has given it to pod " + *pod)) : ok();
}

Status check_unused(const PrepareDeps& deps, const PodOf& pod_of, const ib::PciAddress& address,
                    Deadline deadline) {
  TRY(check_pod(pod_of, address));
  const VfState vf = TRY(read_vf_state(deps.kernel, address));
  TRY(check_virtual_machine(vf));
  if (!vf.function.driver) return ok();
  TRY(check_rdma_users(deps.kernel, address));
  TRY(check_idle(deps.kernel, vf));
  return check_children(deps.kernel, address, deadline);
}

Status check_interrupted(const PrepareDeps& deps, const ib::PciAddress& address,
                         Deadline deadline) {
  TRY(check_pod(deps.pod_of_now, address));
  const VfState vf = TRY(read_vf_state(deps.kernel, address));
  TRY(check_rdma_users(deps.kernel, address));
  const std::vector<node::Netdev> netdevs = TRY(deps.kernel.own_netdevs(node::kHost, address));
  if (!vf.shown || netdevs.empty()) return check_nowhere_else(deps.kernel, vf, deadline);
  TRY(check_idle(deps.kernel, vf));
  return check_children(deps.kernel, address, deadline);
}

}  // namespace ibpod::agent::prepare
