// Lists of a function's devices. Names come from sysfs and what is told of them from elsewhere, and
// udev may rename between the two: a device must not be left out for that, as who misses it would
// think that it is gone.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/nl/socket.h"
#include "lib/node/kernel.h"
#include "lib/sysfs/sysfs.h"

#include <functional>
#include <vector>

namespace ibpod::node {

// Waits, not for long, until what disturbed a list may be over.
using Pause = std::function<Status()>;

// A list counts where each of its names was found and the names are still the same behind it: what
// has really gone has no name any more. Else it is made again after a pause; unavailable where 40
// of them have not helped.
Result<std::vector<RdmaDevice>> list_rdma_devices(const sysfs::Sysfs& sysfs,
                                                  const ib::PciAddress& function,
                                                  const Pause& pause);
// With children, in the order of their indexes. `route` and `sysfs` are of one namespace.
Result<std::vector<Netdev>> list_netdevs(const sysfs::Sysfs& sysfs, nl::Socket& route,
                                         const ib::PciAddress& function, const Pause& pause);

// Without children.
Result<std::vector<Netdev>> list_own_netdevs(const sysfs::Sysfs& sysfs, nl::Socket& route,
                                             const ib::PciAddress& function, const Pause& pause);

// The sysfs of a pod's namespace, by the path that `mount_namespace` has for it
// (lib/base/run_on_thread.h; empty: the caller's own): in a container the names of pods'
// namespaces are those of the host alone. not_found if the namespace is gone, or its path leads to
// another one by now: it never reads another pod's. Keep it open only for the read: a process that
// keeps a namespace open keeps its devices in it.
Result<sysfs::Sysfs> open_pod_sysfs(const Namespace& pod, const Path& mount_namespace);

// The same, for one mount namespace.
using PodSysfs = std::function<Result<sysfs::Sysfs>(const Namespace&)>;

}  // namespace ibpod::node
