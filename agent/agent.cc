#include "agent/agent.h"

#include "agent/config/config.h"
#include "agent/metrics/metrics.h"
#include "agent/metrics/port_counters.h"
#include "agent/prepare/pf_config.h"
#include "agent/prepare/prepare.h"
#include "agent/sm_client/node_pkey_tables.h"
#include "agent/sm_client/node_ports.h"
#include "agent/snapshot/snapshot.h"
#include "device-plugin/device_info.h"
#include "device-plugin/pool_config.h"
#include "lib/attach/agent_required_file.h"
#include "lib/base/join.h"
#include "lib/nodeapi/service.h"

#include <algorithm>

#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::agent {
namespace {

using device_plugin::ChangeSet;

constexpr Duration kPrepareTimeout{120'000};
// For finishing what the first preparation has left; the agent's thread looks at nothing meanwhile.
constexpr Duration kRetryTimeout{10'000};
// Longer than the longest that a turn of the thread can take.
constexpr std::chrono::minutes kMaxTick{5};
// The end of a pod has to be seen soon after one that took long.
constexpr Duration kMaxPause{1'000};
// For a refresh that a caller of the node API asks for.
constexpr Duration kRefreshTimeout{2'000};
const ChangeSet kAll{.everything = true, .ports = true};

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

std::set<std::string> resources_of(const std::vector<device_plugin::Pool>& pools) {
  std::set<std::string> names;
  for (const device_plugin::Pool& pool : pools)
    if (pool.kind != device_plugin::PoolKind::foreign) names.insert(pool.resource());
  return names;
}

std::vector<node::Record> readable_records(const node::Records& records) {
  const auto names = records.all();
  std::vector<node::Record> read;
  if (!names) return read;
  for (const node::RecordName& name : *names) {
    Result<node::Record> record = records.read(name);
    if (!record) continue;
    record->configuration.clear();  // it belongs to the tenant, and the agent does not use it
    read.push_back(std::move(record).value());
  }
  return read;
}

bool has_active_port(const device_plugin::Device& device) {
  return std::any_of(device.rdma.begin(), device.rdma.end(), [](const auto& rdma) {
    return !rdma.ports.empty() && rdma.ports.front().state == ib::PortState::active;
  });
}

// When as much time has passed since now as has since `began`, within reason.
Deadline::Clock::time_point pause_end(Deadline::Clock::time_point began) {
  const auto now = Deadline::Clock::now();
  return now + std::min<Deadline::Clock::duration>(now - began, kMaxPause);
}

kube::Mode mode_of(config::Registration registration) {
  switch (registration) {
    case config::Registration::automatic:
      return kube::Mode::automatic;
    case config::Registration::watcher:
      return kube::Mode::watcher;
    case config::Registration::legacy:
      return kube::Mode::legacy;
  }
  std::abort();
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::open(config::Reloader reloader, log::Log& log) {
  std::unique_ptr<Host> host = TRY(Host::open(reloader.config()));
  EventQueue events = TRY(EventQueue::open());
  return std::unique_ptr<Agent>(
      new Agent(std::move(reloader), std::move(host), std::move(events), log));
}

Agent::Agent(config::Reloader reloader, std::unique_ptr<Host> host, EventQueue events,
             log::Log& log)
    : reloader_(std::move(reloader)),
      host_(std::move(host)),
      telemetry_(log),
      events_(std::move(events)),
      files_(config()),
      resource_deps_{host_->sysfs(), files_} {}

Agent::~Agent() = default;

Status Agent::run() {
  TRY(start());
  int configuration = watch_configuration();
  bool ports = true;  // read by the last look
  while (true) {
    last_tick_ = std::chrono::steady_clock::now();
    read_configuration();
    port_poll_.update(*snapshot_.get(), ports);
    const PendingEvents pending = events_.wait(configuration, port_poll_.due());
    if (!pending.error.empty()) return Error(Code::unavailable, pending.error);
    if (pending.stop) return ok();
    ports = pending.changes.ports;
    const auto began = Deadline::Clock::now();
    const RefreshRequests::Number requests = refresh_requests_.begin();
    handle(pending);
    // One that has come since the wait was over is for the next turn.
    if (pending.poll_due && pending.changes.ports) refresh_requests_.end(requests);
    // Pods make events as fast as they like: to look at them never takes more than half of the
    // time.
    events_.sleep_until(Deadline::at(pause_end(began)));
    if (pending.configuration) configuration = watch_configuration();
  }
}

// Nothing to wait for where that fails: the file is looked at with everything else that happens.
int Agent::watch_configuration() {
  const Result<int> watched = reloader_.watch();
  telemetry_.report_condition("watch the configuration folder",
                              watched ? ok() : Status(watched.error()));
  return watched ? *watched : -1;
}

// In the order in which others may rely on it: what the node is, then who may ask, then who ends
// what is over, and at last the kubelet.
Status Agent::start() {
  // Before the mark: of a marked node whose folder is missing nothing is known (lib/attach/del.cc).
  TRY(host_->records().make_folder());
  write_agent_required();
  telemetry_.report_configured();
  telemetry_.report_condition("private keys", config::check_private_keys(config()));
  set_rdma_mode_status(prepare::set_rdma_mode(host_->kernel(), rdma_netns()));
  pools_ = pools_of(config());
  TRY(open_fabrics());
  prepare_pfs(kPrepareTimeout);
  device_plugin::Watch watch = TRY(device_plugin::Watch::open(host_->records()));
  start_gc();
  report_certificates();
  refresh(kAll);
  // Behind the first look: what is bound is described by it.
  if (fabrics_) fabrics_->begin();
  if (config().kubelet)
    resources_.emplace(
        kubelet(), snapshot_, resource_deps_,
        [this](const kubelet::PoolResource::AllocationEvent& event) { on_allocate(event); });
  TRY(serve_api());
  serve_pools();
  device_watch_.emplace(std::move(watch), events_);
  return ok();
}

// Nothing is offered before it is known who lives.
void Agent::start_gc() {
  const auto on_verdicts = [this] { events_.post({.verdicts_ready = true}); };
  const auto done = [this](const gc::GcReport&) {
    events_.post({.gc_done = true});
    tidy_files();
  };
  gc_loop_.emplace(host_->gc_deps(), config().sweep_interval, on_verdicts, done);
  gc_loop_->await_verdicts();
}

Status Agent::open_fabrics() {
  if (config().fabrics.empty()) return ok();
  fabrics_ = TRY(sm_client::Fabrics::open(
      config().fabrics,
      {host_->records(), host_->sysfs(), reloader_.node(),
       [this](const ib::PciAddress& pf) { return snapshot::interface_of(*snapshot_.get(), pf); },
       [this](const std::vector<ib::Guid>& ports, const std::set<ib::Guid>& others) {
         return sm_client::read_node_pkey_tables(
             ports, others, host_->sysfs(), readable_records(host_->records()), host_->pod_sysfs());
       },
       [this](const std::string& fabric, const sm_client::SmStatus& before,
              const sm_client::SmStatus& now) { on_sm_status(fabric, before, now); }}));
  return ok();
}

// On a link's thread. What could not leave its partition is asked to again.
void Agent::on_sm_status(const std::string& fabric, const sm_client::SmStatus& before,
                         const sm_client::SmStatus& now) {
  telemetry_.report_sm_status(fabric, now);
  if (now.reached && !before.reached) gc_loop_->request_retry();
  // How long it is away tells, too.
  if (!now.reached || now != before) events_.post({.fabrics = true});
}

void Agent::report_certificates() {
  if (fabrics_) telemetry_.report_certificates(fabrics_->certificates());
}

kube::KubeletOptions Agent::kubelet() {
  kube::KubeletOptions kubelet{config().kubelet_root, mode_of(config().registration), {}, {}};
  kubelet.on_change = [this](const kube::Registration&) { events_.post({}); };
  return kubelet;
}

Status Agent::serve_api() {
  node_service_.emplace(NodeServiceDeps{snapshot_, published_times_, host_->sysfs(),
                                        host_->records(), *gc_loop_, host_->kubelet(),
                                        [this] { return is_registered(); }, fabrics_.get(),
                                        [this](Deadline deadline) { refresh_now(deadline); }});
  grpc_service_ = nodeapi::serve(*node_service_);
  TRY(make_folders(config().agent_socket.parent_path()));
  server_ =
      TRY(rpc::Server::serve(config().agent_socket, {grpc_service_.get()}).during("agentSocket"));
  metrics::show_version(telemetry_.metrics(), IBPOD_VERSION);
  http_server_ = TRY(http::Server::start(config().metrics_address,
                                         {[this] { return metrics_page(); },
                                          [this] { return alive(); }, [this] { return ready(); }})
                         .during("metricsAddress"));
  return ok();
}

// The findings must be current. Work in progress elsewhere is not waited for: each finding has the
// time of its observation.
void Agent::refresh_now(Deadline deadline) {
  if (fabrics_) fabrics_->sync_now();
  (void)refresh_requests_.request(deadline.at_most(kRefreshTimeout), [this] {
    events_.post({.changes = {.ports = true}, .poll_due = true});
  });
}

// Its thread looks once a minute at the least.
Status Agent::alive() const {
  const auto since = std::chrono::steady_clock::now() - last_tick_.load();
  if (since < kMaxTick) return ok();
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(since).count();
  return Error(Code::unavailable,
               "the agent's main thread has not run for " + std::to_string(minutes) + " minutes");
}

bool Agent::is_registered() const { return !resources_ || resources_->all_registered(); }

Status Agent::ready() const {
  if (is_registered()) return ok();
  std::string missing;
  for (const auto& [name, registration] : resources_->registrations())
    if (!registration.registered) add_item(missing, ", ", name);
  return Error(Code::unavailable, "not registered with the kubelet: " + missing);
}

std::string Agent::metrics_page() {
  report_certificates();
  const metrics::PortCounters counters = metrics::read_port_counters(
      host_->sysfs(), readable_records(host_->records()), host_->pod_sysfs());
  metrics::show_port_counters(telemetry_.metrics(), counters.counters, counters.unread);
  return telemetry_.metrics().text();
}

// On gRPC's threads.
void Agent::on_allocate(const kubelet::PoolResource::AllocationEvent& event) {
  telemetry_.report_allocation(event.resource, event.granted, event.took);
}

prepare::RdmaNetns Agent::rdma_netns() const {
  const Result<prepare::RdmaNetns> wanted = prepare::parse_rdma_netns(config().rdma_netns);
  return wanted ? *wanted : prepare::RdmaNetns::keep;
}

// Writes the file that says if plugins may attach anything while the agent does not run.
void Agent::write_agent_required() {
  const attach::AgentRequiredFile mark(config().state_folder);
  const bool alone = config().standalone && config().fabrics.empty();
  telemetry_.report_condition(
      "standalone", alone ? mark.remove() : mark.write(config().agent_socket, needs_partitions()));
}

// True if plugins refuse a network that names no partition.
bool Agent::needs_partitions() const {
  return !config().fabrics.empty() && !config().without_partition;
}

// One netlink request.
void Agent::update_rdma_mode() {
  set_rdma_mode_status(prepare::refresh_rdma_mode(host_->kernel(), rdma_netns(), rdma_mode_));
}

void Agent::set_rdma_mode_status(prepare::RdmaModeStatus verdict) {
  rdma_mode_ = std::move(verdict);
  telemetry_.report_rdma_mode(config().rdma_netns, rdma_mode_);
}

void Agent::prepare_pfs(Duration timeout) {
  const prepare::PrepareDeps node{host_->kernel(), host_->records(), config().state_folder,
                                  host_->boot_id(),
                                  fabrics_ ? fabrics_->guid_allocator() : nullptr};
  const prepare::PrepareResult prepared = agent::prepare::prepare_node(
      node, prepare::parse_pf_configs(config().pfs).pfs, Deadline::in(timeout));
  preparation_errors_ = telemetry_.report_preparation(prepared);
  refresh_times_.preparation = std::chrono::system_clock::now();
}

// A preparation that failed may be possible now: a driver has come, a pod has gone.
bool Agent::should_retry_preparation() const {
  const auto gc_run = gc_loop_->last_run();
  const bool freed = std::any_of(gc_run->outcomes.begin(), gc_run->outcomes.end(),
                                 [](const gc::Outcome& one) { return one.released; });
  return freed || !preparation_errors_.empty();
}

// True if there is a PF that the last preparation did not know: one that has come (or come back,
// maybe without its VFs), or, with several fabrics, whose port has come up, which shows its fabric.
bool Agent::has_new_pf() {
  const auto put = [](std::set<ib::PciAddress>& known, std::set<ib::PciAddress> now) {
    const bool more = !std::includes(known.begin(), known.end(), now.begin(), now.end());
    known = std::move(now);
    return more;
  };
  std::set<ib::PciAddress> pfs, up;
  for (const device_plugin::Device& device : snapshot_.get()->devices) {
    if (device.pf) continue;
    pfs.insert(device.address);
    if (config().fabrics.size() > 1 && has_active_port(device)) up.insert(device.address);
  }
  const bool more = put(pfs_, std::move(pfs));
  return put(active_pfs_, std::move(up)) || more;
}

// Not before a look has succeeded: an empty list would tell the kubelet that devices in use have
// gone.
void Agent::serve_pools() {
  if (!resources_ || !has_refreshed_) return;
  telemetry_.report_condition("serve the pools", resources_->serve(resources_of(pools_)));
}

// A device of a pod stays in the pool that gave it, from the moment it is given.
void Agent::refresh(const ChangeSet& changed) {
  const auto allocated = device_plugin::read_allocated(files_.device_info_folder());
  if (allocated) allocated_ = *allocated;
  Result<std::vector<device_plugin::Device>> devices =
      host_->inventory(changed, pkey_tables_for(pools_));
  // While VFs are made or removed nothing can be said; there is an event when that ends.
  if (!devices) return telemetry_.report_condition("inventory", devices.error());
  telemetry_.report_condition("inventory", ok());
  has_refreshed_ = true;
  refresh_times_.devices = std::chrono::system_clock::now();
  if (fabrics_) {
    fabrics_->set_ports(sm_client::ports_of(*devices));
    fabrics_->set_bind_faults(*devices);
  }
  const std::shared_ptr<const gc::GcRun> gc_run = gc_loop_->last_run();
  snapshot::Snapshot now = snapshot::make_snapshot(
      std::move(devices).value(),
      {pools_, allocated_, *gc_run, rdma_mode_, preparation_errors_, needs_partitions()});
  const auto before = snapshot_.get();
  const bool is_new = now != *before || changed.ports;
  if (is_new) snapshot_.set(std::move(now));
  published_times_.set(
      refresh_times_);  // after the view: what is told is never older than its time
  if (is_new) publish(*before, *snapshot_.get(), changed.ports);
}

// First what a runtime reads, then the kubelet, which may give it to one at once.
void Agent::publish(const snapshot::Snapshot& before, const snapshot::Snapshot& now,
                    bool thoroughly) {
  Status refreshed = files_.refresh(now, files_complete_ ? &before : nullptr);
  if (refreshed && thoroughly) refreshed = files_.tidy_cdi(now);
  files_complete_ = refreshed.ok();
  telemetry_.report_condition("CDI files", refreshed);
  if (resources_)
    telemetry_.report_condition("send the devices to the kubelet", resources_->publish());
  telemetry_.report_changes(before, now);
}

void Agent::handle(const PendingEvents& pending) {
  if (pending.poll_due) read_configuration();
  if (pending.gc_done) telemetry_.report_gc(*gc_loop_->last_run());
  if (pending.poll_due || pending.fabrics) report_certificates();
  if (pending.devices || pending.verdicts_ready || pending.gc_done || pending.poll_due ||
      pending.fabrics || pending.changes.ports) {
    update_rdma_mode();
    refresh(pending.changes);
  }
  const bool rest = (pending.poll_due || pending.gc_done) && should_retry_preparation();
  if (has_new_pf() || rest) {
    prepare_pfs(kRetryTimeout);
    refresh({});
  }
  // Served pools go on; those that could not be served are tried again.
  serve_pools();
  // An end of a pod shows as a device that comes home.
  if (pending.devices) gc_loop_->request_run();
  if (resources_) telemetry_.report_registrations(resources_->registrations());
}

// On the sweeping thread, which may wait for the kubelet.
void Agent::tidy_files() {
  if (!host_->pods()) return;
  const Result<std::vector<gc::PodDevices>> pods = host_->pods()->list_pods();
  if (pods) telemetry_.report_condition("device-info files", files_.tidy(*snapshot_.get(), *pods));
}

void Agent::read_configuration() {
  const config::Reload reload = reloader_.poll();
  telemetry_.report_reload(reload);
  if (reload.kind == config::Reload::Kind::taken) apply_configuration();
}

void Agent::apply_configuration() {
  telemetry_.set_level(config().log_level);
  write_agent_required();
  telemetry_.report_condition("private keys", config::check_private_keys(config()));
  pools_ = pools_of(config());
  gc_loop_->set_interval(config().sweep_interval);
  set_rdma_mode_status(prepare::set_rdma_mode(host_->kernel(), rdma_netns()));
  prepare_pfs(kPrepareTimeout);
  refresh(kAll);
  serve_pools();
}

void Agent::shut_down() {
  if (resources_) resources_->stop();
  if (server_) server_->stop(Duration(300));
  http_server_.reset();
}

}  // namespace ibpod::agent
