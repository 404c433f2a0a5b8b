// Host: the node that the agent works on, opened once: its kernel, its sysfs, its records, and
// who knows of its pods.
#pragma once

#include "agent/config/config.h"
#include "agent/gc/gc_deps.h"
#include "agent/gc/installed_plugins.h"
#include "agent/kubelet/kubelet_pods.h"
#include "agent/kubelet/runtime_sandboxes.h"
#include "agent/sm_client/fabrics.h"
#include "device-plugin/inventory.h"
#include "lib/node/linux_kernel.h"
#include "lib/node/listing.h"
#include "lib/node/records.h"
#include "lib/sysfs/sysfs.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent {

class Host {
 public:
  static Result<std::unique_ptr<Host>> open(const config::Config& config);

  // Everything that a pod could be given, as it is now, as far as `changed` is true
  // (device_plugin::Inventory).
  Result<std::vector<device_plugin::Device>> inventory(const device_plugin::ChangeSet& changed,
                                                       device_plugin::PkeyTables tables);
  // The host as garbage collection uses it.
  gc::GcDeps gc_deps();
  // The host as the clients of the SM services use it, with these callbacks (sm_client/fabrics.h).
  // It outlives them.
  sm_client::FabricsDeps fabrics_deps(const std::string& node, sm_client::InterfaceOf interface_of,
                                      sm_client::StatusChanged on_status) const;

  node::Kernel& kernel() { return *kernel_; }
  const node::Records& records() const { return records_; }
  // From any thread. Those that can be read, without the configurations of their networks, which
  // belong to tenants.
  std::vector<node::Record> readable_records() const;
  const sysfs::Sysfs& sysfs() const { return sysfs_; }
  // By the paths of the host's mount namespace.
  const node::PodSysfs& pod_sysfs() const { return pod_sysfs_; }
  const std::string& boot_id() const { return boot_id_; }
  // Nothing: this node has no kubelet.
  const std::optional<kube::PodResources>& kubelet() const { return kubelet_; }
  std::optional<kubelet::KubeletPods>& pods() { return pods_; }

 private:
  // For garbage collection alone: how it sees that a pod is gone, and how it ends an attachment.
  struct GcParts {
    gc::HostNamespaces namespaces;
    gc::InstalledPlugins plugins;
    gc::HostStrays strays;
    std::optional<kubelet::RuntimeSandboxes> sandboxes = {};
  };

  Host(const config::Config& config, std::unique_ptr<node::LinuxKernel> kernel, sysfs::Sysfs sysfs,
       nl::Socket route, std::string boot_id);

  std::unique_ptr<node::LinuxKernel> kernel_;
  sysfs::Sysfs sysfs_;
  node::PodSysfs pod_sysfs_;
  nl::Socket route_;
  std::string boot_id_;
  node::Records records_;
  device_plugin::Inventory inventory_;
  std::optional<kube::PodResources> kubelet_;
  std::optional<kubelet::KubeletPods> pods_;
  GcParts gc_;
};

}  // namespace ibpod::agent
