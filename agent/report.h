// Report: what the agent has seen and done, as lines of its log and as metrics. Used by the agent's
// own thread; metrics() and allocated() are for others, too.
#pragma once

#include "agent/config/reload.h"
#include "agent/sweep/sweep.h"
#include "agent/view.h"
#include "lib/http/metrics.h"
#include "lib/kube/registration.h"
#include "lib/log/log.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace ibpod::agent {

class Report {
 public:
  explicit Report(log::Log& log) : log_(log) {}

  void error(const std::string& text) { log_.write(log::Level::error, text); }
  void warning(const std::string& text) { log_.write(log::Level::warning, text); }
  void info(const std::string& text) { log_.write(log::Level::info, text); }
  // What is wrong for longer is said once, and again after it was well.
  void trouble(const std::string& about, const Status& status);

  // What differs between two looks: devices, offers and their health.
  void seen(const View& before, const View& now);
  void swept(const Pass& pass);
  void reloaded(const Reload& reload);
  void registered(const std::map<std::string, kube::Registration>& registrations);
  void allocated(const std::string& resource, bool granted, std::chrono::duration<double> took);

  http::Metrics& metrics() { return metrics_; }

 private:
  void compare_offers(const View& before, const View& now);

  log::Log& log_;
  http::Metrics metrics_;
  std::map<std::string, std::string> troubles_;
  std::map<node::RecordName, std::string> quarantined_;
  std::map<std::string, kube::Registration> registrations_;
};

}  // namespace ibpod::agent
