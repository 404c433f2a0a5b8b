#include "lib/node/pod_sysfs.h"

#include "lib/base/mount_namespace.h"
#include "lib/netns/netns.h"

namespace ibpod::node {

Result<sysfs::Sysfs> open_pod_sysfs(const Namespace& pod, const Path& mount_namespace) {
  Result<netns::NetNs> opened = Error(Code::internal, "not opened");
  TRY(run_in_mount_namespace(mount_namespace, "open a pod's network namespace", [&] {
    opened = netns::NetNs::open(pod.path);
    return ok();
  }));
  const netns::NetNs netns = TRY(std::move(opened));
  const netns::Identity identity = TRY(netns.identity());
  if (identity == pod.identity) return sysfs::Sysfs::of_netns(netns.fd());
  return Error(Code::not_found,
               pod.path.string() + ": the namespace is gone, and another one has its path");
}

}  // namespace ibpod::node
