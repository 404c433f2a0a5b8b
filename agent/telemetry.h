// Telemetry: what the agent has seen and done, as lines of its log and as metrics. Used by the
// agent's own thread; metrics(), allocated() and trouble() are for others, too.
#pragma once

#include "agent/config/reloader.h"
#include "agent/gc/garbage_collector.h"
#include "agent/prepare/prepare.h"
#include "agent/prepare/rdma_mode.h"
#include "agent/sm_client/fabrics.h"
#include "agent/snapshot/snapshot.h"
#include "lib/http/metrics.h"
#include "lib/kube/registration.h"
#include "lib/log/log.h"

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ibpod::agent {

class Telemetry {
 public:
  explicit Telemetry(log::Log& log) : log_(log) {}

  void set_level(log::Level level) { log_.set_least(level); }
  void error(const std::string& text) { log_.write(log::Level::error, text); }
  void warning(const std::string& text) { log_.write(log::Level::warning, text); }
  void info(const std::string& text) { log_.write(log::Level::info, text); }
  // A condition that lasts is reported once, and again after it was resolved.
  void report_condition(const std::string& about, const Status& status);

  // Reports the differences between two snapshots: devices, offers and their health.
  void report_changes(const snapshot::Snapshot& before, const snapshot::Snapshot& now);
  // The configuration that was there at the start is in force.
  void report_configured();
  void report_rdma_mode(const std::string& wanted, const prepare::RdmaModeStatus& verdict);
  // Returns what is not as it is configured, a sentence each.
  std::vector<std::string> report_preparation(const prepare::PrepareResult& preparation);
  void report_gc(const gc::GcRun& gc_run);
  void report_reload(const config::Reload& reload);
  void report_registrations(const std::map<std::string, kube::Registration>& registrations);
  // From any thread.
  void report_sm_status(const std::string& fabric, const sm_client::SmStatus& sm_status);
  void report_certificates(const std::map<std::string, sm_client::NodeCertificate>& by_fabric);
  void report_allocation(const std::string& resource, bool granted,
                         std::chrono::duration<double> took);

  http::Metrics& metrics() { return metrics_; }

 private:
  void report_strays(const gc::GcRun& gc_run);
  void report_address_releases(const gc::GcRun& gc_run);
  void report_health_changes(const snapshot::Snapshot& before, const snapshot::Snapshot& now);

  log::Log& log_;
  http::Metrics metrics_;
  std::mutex mutex_;
  std::map<std::string, std::string> conditions_;  // guarded by mutex_
  std::vector<std::string> problems_;
  std::string rdma_mode_;
  std::map<node::RecordName, std::string> quarantined_;
  std::map<node::AddressReleaseName, std::string> failed_releases_;
  std::string strays_failure_;  // told already
  std::map<std::string, kube::Registration> registrations_;
};

}  // namespace ibpod::agent
