// PodSysfs: the device tree as a pod's network namespace sees it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/node/kernel.h"
#include "lib/sysfs/sysfs.h"

#include <functional>

namespace ibpod::node {

// The sysfs of a pod's namespace, by the path that `mount_namespace` has for it
// (lib/base/mount_namespace.h; empty: the caller's own): in a container the names of pods'
// namespaces are those of the host alone. not_found if the namespace is gone, or its path leads to
// another one by now: it never reads another pod's. Keep it open only for the read: a process that
// keeps a namespace open keeps its devices in it.
Result<sysfs::Sysfs> open_pod_sysfs(const Namespace& pod, const Path& mount_namespace);

// The same, for one mount namespace.
using PodSysfs = std::function<Result<sysfs::Sysfs>(const Namespace&)>;

}  // namespace ibpod::node
