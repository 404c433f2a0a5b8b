#include "agent/snapshot_refresher.h"

#include "agent/sm_client/node_ports.h"
#include "device-plugin/device_info.h"
#include "device-plugin/pool_config.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

// Parts of the configuration that Config leaves as JSON were checked when the file was read, so
// they can be parsed.
std::vector<device_plugin::Pool> pools_of(const config::Config& config) {
  Result<device_plugin::PoolConfig> read =
      device_plugin::parse_pools(config.resource_list, config.resource_prefix);
  if (!read) return {};
  for (device_plugin::Pool& pool : read->pools) pool.cdi = pool.cdi && config.cdi;
  return read->pools;
}

device_plugin::PkeyTables pkey_tables_for(const std::vector<device_plugin::Pool>& pools) {
  const auto by_pkey = [](const device_plugin::Selector& one) { return !one.pkeys.empty(); };
  for (const device_plugin::Pool& pool : pools) {
    if (std::any_of(pool.selectors.begin(), pool.selectors.end(), by_pkey))
      return device_plugin::PkeyTables::read;
  }
  return device_plugin::PkeyTables::skip;
}

}  // namespace

void SnapshotRefresher::configure_pools() { pools_ = pools_of(config_.config()); }

std::set<std::string> SnapshotRefresher::resources() const {
  std::set<std::string> names;
  for (const device_plugin::Pool& pool : pools_)
    if (pool.kind != device_plugin::PoolKind::foreign) names.insert(pool.resource());
  return names;
}

// A device of a pod stays in the pool that gave it, from the moment it is given.
std::optional<SnapshotChange> SnapshotRefresher::refresh(const device_plugin::ChangeSet& changed,
                                                         const RefreshDeps& deps) {
  const auto allocated = device_plugin::read_allocated(deps.device_info_folder);
  if (allocated) allocated_ = *allocated;
  Result<std::vector<device_plugin::Device>> devices =
      host_.inventory(changed, pkey_tables_for(pools_));
  // While VFs are made or removed nothing can be said; there is an event when that ends.
  telemetry_.report_condition("inventory", devices ? ok() : Status(devices.error()));
  if (!devices) return std::nullopt;
  has_refreshed_ = true;
  const auto devices_read = std::chrono::system_clock::now();
  if (deps.fabrics) {
    deps.fabrics->set_ports(sm_client::ports_of(*devices));
    deps.fabrics->set_bind_faults(*devices);
  }
  const std::shared_ptr<const gc::GcRun> gc_run = deps.gc_loop.last_run();
  snapshot::Snapshot now = snapshot::make_snapshot(
      std::move(devices).value(), {pools_, allocated_, *gc_run, preparation_.rdma_mode(),
                                   preparation_.errors(), config_.needs_partitions()});
  const auto before = snapshot_.get();
  const bool is_new = now != *before || changed.ports;
  if (is_new) snapshot_.set(std::move(now));
  // After the snapshot: what is reported is never older than its time.
  times_.set({devices_read, preparation_.prepared_at()});
  if (!is_new) return std::nullopt;
  return SnapshotChange{before, snapshot_.get()};
}

Deadline SnapshotRefresher::next_port_poll(bool ports_read) {
  port_poll_.update(*snapshot_.get(), ports_read);
  return port_poll_.due();
}

}  // namespace ibpod::agent
