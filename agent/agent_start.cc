// The start of the agent.
#include "agent/agent.h"
#include "agent/metrics/metrics.h"

namespace ibpod::agent {

// In the order in which others may rely on it: what the node is, then who may ask, then who ends
// what is over, and at last the kubelet.
Status Agent::start() {
  // The folder first: if the agent is required and the folder is missing, nothing is known of the
  // node's attachments (lib/attach/del.cc).
  TRY(host_->records().make_folder());
  config_.write_agent_required();
  config_.check_private_keys();
  telemetry_.report_configured();
  preparation_.set_rdma_mode();
  refresher_.configure_pools();
  TRY(open_fabrics());
  preparation_.prepare_pfs(fabrics_.get());
  device_plugin::Watch watch = TRY(device_plugin::Watch::open(host_->records()));
  start_gc();
  report_certificates();
  refresh_everything();
  // After the first refresh, which describes the devices of the bindings.
  if (fabrics_) fabrics_->begin();
  kubelet_devices_.begin(config_.config(), [this] { events_.post({}); });
  TRY(serve());
  serve_pools();
  device_watch_.emplace(std::move(watch), events_);
  return ok();
}

Status Agent::open_fabrics() {
  if (config_.config().fabrics.empty()) return ok();
  const auto interface_of = [this](const ib::PciAddress& pf) {
    return snapshot::interface_of(*refresher_.snapshot().get(), pf);
  };
  const auto on_status = [this](const std::string& fabric, const sm_client::SmStatus& before,
                                const sm_client::SmStatus& now) {
    on_sm_status(fabric, before, now);
  };
  fabrics_ = TRY(sm_client::Fabrics::open(
      config_.config().fabrics, host_->fabrics_deps(config_.node(), interface_of, on_status)));
  return ok();
}

// Nothing is offered before it is known who lives.
void Agent::start_gc() {
  const auto on_verdicts = [this] { events_.post({.verdicts_ready = true}); };
  const auto done = [this](const gc::GcReport&) {
    events_.post({.gc_done = true});
    kubelet_devices_.tidy_files();
  };
  gc_loop_.emplace(host_->gc_deps(), config_.config().sweep_interval, on_verdicts, done);
  gc_loop_->await_verdicts();
}

Status Agent::serve() {
  metrics::show_version(telemetry_.metrics(), IBPOD_VERSION);
  return servers_.serve(
      config_.config(),
      {refresher_.snapshot(), refresher_.times(), host_->sysfs(), host_->records(), *gc_loop_,
       host_->kubelet(), [this] { return kubelet_devices_.is_registered(); }, fabrics_.get(),
       [this](Deadline deadline) { refresh_now(deadline); }},
      {[this] { return metrics_page(); }, [this] { return heartbeat_.check(); },
       [this] { return kubelet_devices_.check_registered(); }});
}

}  // namespace ibpod::agent
