#include "agent/agent.h"

#include "agent/metrics/metrics.h"
#include "agent/metrics/port_counters.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

// The end of a pod has to be seen soon after one that took long.
constexpr Duration kMaxPause{1'000};
// For a refresh that a caller of the node API asks for.
constexpr Duration kRefreshTimeout{2'000};

// When as much time has passed since now as has since `began`, within reason.
Deadline::Clock::time_point pause_end(Deadline::Clock::time_point began) {
  const auto now = Deadline::Clock::now();
  return now + std::min<Deadline::Clock::duration>(now - began, kMaxPause);
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
    : telemetry_(log),
      config_(std::move(reloader), telemetry_),
      host_(std::move(host)),
      events_(std::move(events)),
      preparation_(config_, *host_, telemetry_),
      refresher_(config_, *host_, preparation_, telemetry_),
      kubelet_devices_(config_.config(), *host_, refresher_.snapshot(), telemetry_) {}

Agent::~Agent() = default;

Status Agent::run() {
  TRY(start());
  int config_fd = config_.watch();
  bool ports = true;  // read by the last refresh
  while (true) {
    heartbeat_.tick();
    read_configuration();
    const PendingEvents pending = events_.wait(config_fd, refresher_.next_port_poll(ports));
    if (!pending.error.empty()) return Error(Code::unavailable, pending.error);
    if (pending.stop) return ok();
    ports = pending.changes.ports;
    const auto began = Deadline::Clock::now();
    const RefreshRequests::Number requests = refresher_.requests().begin();
    handle(pending);
    // A request that came since is for the next iteration.
    if (pending.poll_due && pending.changes.ports) refresher_.requests().end(requests);
    // Pods make events as fast as they like: handling them takes at most half of the time.
    events_.sleep_until(Deadline::at(pause_end(began)));
    if (pending.configuration) config_fd = config_.watch();
  }
}

void Agent::handle(const PendingEvents& pending) {
  if (pending.poll_due) read_configuration();
  if (pending.gc_done) telemetry_.report_gc(*gc_loop_->last_run());
  if (pending.poll_due || pending.fabrics) report_certificates();
  if (pending.devices || pending.verdicts_ready || pending.gc_done || pending.poll_due ||
      pending.fabrics || pending.changes.ports) {
    preparation_.refresh_rdma_mode();
    refresh(pending.changes);
  }
  const bool retry =
      (pending.poll_due || pending.gc_done) && preparation_.should_retry(*gc_loop_->last_run());
  if (preparation_.has_new_pf(*refresher_.snapshot().get()) || retry) {
    preparation_.prepare_again(fabrics_.get());
    refresh({});
  }
  // Served pools go on; those that could not be served are tried again.
  serve_pools();
  // An end of a pod shows as a device that comes home.
  if (pending.devices) gc_loop_->request_run();
  kubelet_devices_.report_registrations();
}

void Agent::read_configuration() {
  if (config_.reload()) apply_configuration();
}

void Agent::apply_configuration() {
  telemetry_.set_level(config_.config().log_level);
  config_.write_agent_required();
  config_.check_private_keys();
  refresher_.configure_pools();
  gc_loop_->set_interval(config_.config().sweep_interval);
  preparation_.set_rdma_mode();
  preparation_.prepare_pfs(fabrics_.get());
  refresh_everything();
  serve_pools();
}

void Agent::refresh(const device_plugin::ChangeSet& changed) {
  const std::optional<SnapshotChange> change = refresher_.refresh(
      changed, {kubelet_devices_.device_info_folder(), *gc_loop_, fabrics_.get()});
  if (!change) return;
  kubelet_devices_.publish(*change->before, *change->now, changed.ports);
  telemetry_.report_changes(*change->before, *change->now);
}

// Not before a refresh has succeeded: an empty list would tell the kubelet that devices in use have
// gone.
void Agent::serve_pools() {
  if (refresher_.has_refreshed()) kubelet_devices_.serve(refresher_.resources());
}

// The findings must be current. Work in progress elsewhere is not waited for: each finding has the
// time of its observation.
void Agent::refresh_now(Deadline deadline) {
  if (fabrics_) fabrics_->sync_now();
  (void)refresher_.requests().request(deadline.at_most(kRefreshTimeout), [this] {
    events_.post({.changes = {.ports = true}, .poll_due = true});
  });
}

void Agent::report_certificates() {
  if (fabrics_) telemetry_.report_certificates(fabrics_->certificates());
}

std::string Agent::metrics_page() {
  report_certificates();
  const metrics::PortCounters counters =
      metrics::read_port_counters(host_->sysfs(), host_->readable_records(), host_->pod_sysfs());
  metrics::show_port_counters(telemetry_.metrics(), counters.counters, counters.unread);
  return telemetry_.metrics().text();
}

// On a link's thread. What could not leave its partition is asked to again.
void Agent::on_sm_status(const std::string& fabric, const sm_client::SmStatus& before,
                         const sm_client::SmStatus& now) {
  telemetry_.report_sm_status(fabric, now);
  if (now.reached && !before.reached) gc_loop_->request_retry();
  // How long it is away tells, too.
  if (!now.reached || now != before) events_.post({.fabrics = true});
}

void Agent::shut_down() {
  kubelet_devices_.stop();
  servers_.stop();
}

}  // namespace ibpod::agent
