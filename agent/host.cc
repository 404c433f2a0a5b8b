#include "agent/host.h"

#include "agent/sm_client/node_pkey_tables.h"
#include "lib/node/boot_id.h"

#include <utility>

namespace ibpod::agent {
namespace {

gc::PluginSettings plugin_settings(const config::Config& config) {
  gc::PluginSettings place;
  place.folder = config.cni_folder;
  place.mount_namespace = config.host_mount_namespace;
  place.state_folder = config.state_folder;
  return place;
}

}  // namespace

Result<std::unique_ptr<Host>> Host::open(const config::Config& config) {
  std::unique_ptr<node::LinuxKernel> kernel = TRY(node::LinuxKernel::open(config.sysfs));
  sysfs::Sysfs sysfs = TRY(sysfs::Sysfs::open(config.sysfs).during("sysfs"));
  nl::Socket route = TRY(nl::Socket::open(nl::Family::route));
  std::string boot_id = TRY(node::read_boot_id());
  return std::unique_ptr<Host>(
      new Host(config, std::move(kernel), std::move(sysfs), std::move(route), std::move(boot_id)));
}

Host::Host(const config::Config& config, std::unique_ptr<node::LinuxKernel> kernel,
           sysfs::Sysfs sysfs, nl::Socket route, std::string boot_id)
    : kernel_(std::move(kernel)),
      sysfs_(std::move(sysfs)),
      pod_sysfs_([where = config.host_mount_namespace](const node::Namespace& pod) {
        return node::open_pod_sysfs(pod, where);
      }),
      route_(std::move(route)),
      boot_id_(std::move(boot_id)),
      records_(config.state_folder),
      gc_{gc::HostNamespaces(config.host_mount_namespace),
          gc::InstalledPlugins(plugin_settings(config)), gc::HostStrays(records_, config.sysfs)} {
  if (!config.runtime_socket.empty())
    gc_.sandboxes.emplace(kube::ContainerRuntime(config.runtime_socket));
  if (!config.kubelet) return;
  kubelet_.emplace(config.pod_resources());
  pods_.emplace(*kubelet_);
}

Result<std::vector<device_plugin::Device>> Host::inventory(const device_plugin::ChangeSet& changed,
                                                           device_plugin::PkeyTables tables) {
  const node::HostNetwork network = TRY(node::read_host_network(route_));
  return inventory_.read({.sysfs = sysfs_,
                          .records = records_,
                          .network = network,
                          .pod_sysfs = pod_sysfs_,
                          .tables = tables},
                         changed);
}

gc::GcDeps Host::gc_deps() {
  return {records_,
          boot_id_,
          gc_.namespaces,
          pods_ ? &*pods_ : nullptr,
          gc_.sandboxes ? &*gc_.sandboxes : nullptr,
          gc_.plugins,
          &gc_.strays};
}

sm_client::FabricsDeps Host::fabrics_deps(const std::string& node,
                                          sm_client::InterfaceOf interface_of,
                                          sm_client::StatusChanged on_status) const {
  const auto read_tables = [this](const std::vector<ib::Guid>& ports,
                                  const std::set<ib::Guid>& others) {
    return sm_client::read_node_pkey_tables(ports, others, sysfs_, readable_records(), pod_sysfs_);
  };
  return {records_, sysfs_, node, std::move(interface_of), read_tables, std::move(on_status)};
}

std::vector<node::Record> Host::readable_records() const {
  const auto names = records_.all();
  std::vector<node::Record> read;
  if (!names) return read;
  for (const node::RecordName& name : *names) {
    Result<node::Record> record = records_.read(name);
    if (!record) continue;
    record->configuration.clear();
    read.push_back(std::move(record).value());
  }
  return read;
}

}  // namespace ibpod::agent
