// Report: what the agent has seen and done, as lines of its log and as metrics. Used by the agent's
// own thread; metrics(), allocated() and trouble() are for others, too.
#pragma once

#include "agent/config/reloader.h"
#include "agent/sm_client/fabrics.h"
#include "agent/prepare/prepare.h"
#include "agent/prepare/rdma_mode.h"
#include "agent/gc/garbage_collector.h"
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

class Report {
 public:
  explicit Report(log::Log& log) : log_(log) {}

  void set_least(log::Level level) { log_.set_least(level); }
  void error(const std::string& text) { log_.write(log::Level::error, text); }
  void warning(const std::string& text) { log_.write(log::Level::warning, text); }
  void info(const std::string& text) { log_.write(log::Level::info, text); }
  // What is wrong for longer is said once, and again after it was well.
  void trouble(const std::string& about, const Status& status);

  // What differs between two looks: devices, offers and their health.
  void seen(const View& before, const View& now);
  // The configuration that was there at the start is in force.
  void configured();
  void rdma_mode(const std::string& wanted, const RdmaModeVerdict& verdict);
  // Returns what is not as it is configured, a sentence each.
  std::vector<std::string> prepared(const Preparation& preparation);
  void swept(const Pass& pass);
  void reloaded(const Reload& reload);
  void registered(const std::map<std::string, kube::Registration>& registrations);
  // From any thread.
  void contact(const std::string& fabric, const Contact& contact);
  void certificates(const std::map<std::string, NodeCertificate>& by_fabric);
  void allocated(const std::string& resource, bool granted, std::chrono::duration<double> took);

  http::Metrics& metrics() { return metrics_; }

 private:
  void tell_strays(const Pass& pass);
  void tell_owed(const Pass& pass);
  void compare_offers(const View& before, const View& now);

  log::Log& log_;
  http::Metrics metrics_;
  std::mutex mutex_;
  std::map<std::string, std::string> troubles_;  // guarded by mutex_
  std::vector<std::string> problems_;
  std::string rdma_mode_;
  std::map<node::RecordName, std::string> quarantined_;
  std::map<node::AddressReleaseName, std::string> owed_;
  std::string strays_failure_;  // told already
  std::map<std::string, kube::Registration> registrations_;
};

}  // namespace ibpod::agent
