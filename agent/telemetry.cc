#include "agent/telemetry.h"

#include "agent/metrics/metrics.h"
#include "device-plugin/inventory.h"
#include "lib/base/join.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ibpod::agent {
namespace {

using device_plugin::PoolContents;
using device_plugin::PoolDevice;

struct DeviceHealth {
  std::string resource;
  std::string unhealthy;
  std::string_view reason;
};

std::map<std::string, DeviceHealth> device_health(const snapshot::Snapshot& snapshot) {
  std::map<std::string, DeviceHealth> states;
  for (const PoolContents& contents : snapshot.pool_contents) {
    for (const PoolDevice& pool_device : contents.devices) {
      const auto verdict = snapshot.health.find(pool_device.id);
      const bool ill = verdict != snapshot.health.end() && !verdict->second.is_healthy();
      states[pool_device.id] = {contents.pool.resource(), pool_device.unhealthy,
                                ill ? device_plugin::name(*verdict->second.reason) : "healthy"};
    }
  }
  return states;
}

// Resources that this node has, and no device for.
std::set<std::string> empty_pools(const snapshot::Snapshot& snapshot) {
  std::set<std::string> resources;
  for (const PoolContents& contents : snapshot.pool_contents) {
    if (contents.pool.kind != device_plugin::PoolKind::foreign && contents.devices.empty())
      resources.insert(contents.pool.resource());
  }
  return resources;
}

metrics::PoolCounts count(const PoolContents& contents) {
  metrics::PoolCounts counted{contents.pool.resource()};
  for (const PoolDevice& pool_device : contents.devices) {
    ++(pool_device.unhealthy.empty() ? counted.healthy : counted.unhealthy);
    if (!pool_device.device.attachment.empty()) ++counted.in_use;
  }
  return counted;
}

}  // namespace

void Telemetry::report_condition(const std::string& about, const Status& status) {
  const std::scoped_lock lock(mutex_);
  std::string& last = conditions_[about];
  const std::string now = status ? "" : status.error().text();
  if (now == last) return;
  if (now.empty())
    info(about + ": resolved");
  else
    warning(about + ": " + now);
  last = now;
}

void Telemetry::report_health_changes(const snapshot::Snapshot& before,
                                      const snapshot::Snapshot& now) {
  const std::map<std::string, DeviceHealth> old = device_health(before);
  for (const auto& [id, state] : device_health(now)) {
    const auto was = old.find(id);
    if (was != old.end() && was->second.unhealthy == state.unhealthy) continue;
    metrics::count_health_change(metrics_, state.resource, state.reason);
    info(id + ": " + (state.unhealthy.empty() ? "healthy" : "unhealthy: " + state.unhealthy) +
         ", offered as " + state.resource);
  }
  const std::set<std::string> known = empty_pools(before);
  for (const std::string& resource : empty_pools(now)) {
    if (!known.contains(resource))
      info(resource +
           ": its pool takes no device of this node; run `ibpodctl explain DEVICE` for the reason");
  }
}

void Telemetry::report_changes(const snapshot::Snapshot& before, const snapshot::Snapshot& now) {
  for (const std::string& line : device_plugin::describe_changes(before.devices, now.devices))
    info(line);
  report_health_changes(before, now);
  std::vector<metrics::PoolCounts> pools;
  for (const PoolContents& contents : now.pool_contents) {
    pools.push_back(count(contents));
    for (const PoolDevice& pool_device : contents.devices) {
      const auto verdict = now.health.find(pool_device.id);
      if (verdict != now.health.end() && !verdict->second.is_healthy())
        ++pools.back().reasons[std::string(device_plugin::name(*verdict->second.reason))];
    }
  }
  metrics::show_pools(metrics_, pools);
}

void Telemetry::report_sm_status(const std::string& fabric, const sm_client::SmStatus& sm_status) {
  metrics::show_fabric(metrics_, fabric, sm_status.reached, sm_status.verified,
                       sm_status.unverified);
  report_condition("the SM service of fabric " + fabric,
                   sm_status.reached ? ok() : Status(Error(Code::unavailable, sm_status.error)));
}

void Telemetry::report_certificates(
    const std::map<std::string, sm_client::NodeCertificate>& by_fabric) {
  std::vector<metrics::FabricCertificate> shown;
  for (const auto& [fabric, one] : by_fabric) {
    shown.push_back({fabric, one.usable.ok(), one.expires});
    report_condition("the node's certificate for fabric " + fabric, one.state);
  }
  metrics::show_certificates(metrics_, shown);
}

void Telemetry::report_configured() { metrics::show_configuration(metrics_, true); }

void Telemetry::report_rdma_mode(const std::string& wanted,
                                 const prepare::RdmaModeStatus& verdict) {
  const bool exclusive = verdict.mode == nl::RdmaNetnsMode::exclusive;
  const std::string mode = !verdict.mode ? "unknown" : exclusive ? "exclusive" : "shared";
  metrics::show_rdma_netns(metrics_, wanted, mode, verdict.matches_config);
  const std::string text = verdict.with_remedy();
  if (std::exchange(rdma_mode_, text) == text) return;
  verdict.matches_config ? info(text) : warning(text);
}

// A preparation is tried again and again; what is wrong is logged once.
std::vector<std::string> Telemetry::report_preparation(const prepare::PrepareResult& preparation) {
  for (const std::string& line : preparation.done) info(line);
  std::vector<std::string> problems;
  std::map<std::string, size_t> errors;
  for (const Error& problem : preparation.problems) {
    const std::string text = problem.text();
    const auto pf = ib::PciAddress::parse(text.substr(0, text.find(": ")));
    ++errors[pf ? pf->text() : ""];
    if (std::find(problems_.begin(), problems_.end(), text) == problems_.end()) error(text);
    problems.push_back(text);
  }
  metrics::show_preparation(metrics_, errors);
  problems_ = problems;
  return problems;
}

void Telemetry::report_strays(const gc::GcRun& gc_run) {
  const std::string names = join(gc_run.strays, ", ");
  const std::string what = "IPoIB children without a record" + (names.empty() ? "" : ": " + names);
  if (gc_run.strays_failure.empty() && !names.empty()) info(what + ": removed");
  const std::string failure =
      gc_run.strays_failure.empty() ? "" : what + ": " + gc_run.strays_failure;
  if (!failure.empty() && failure != strays_failure_) warning(failure);
  strays_failure_ = failure;
}

void Telemetry::report_address_releases(const gc::GcRun& gc_run) {
  std::map<node::AddressReleaseName, std::string> owed;
  for (const gc::AddressRelease& one : gc_run.address_releases) {
    const std::string what = "addresses of " + one.name.text();
    if (one.released) info(what + ": released by IPAM");
    if (one.released || one.failure.empty()) continue;
    owed[one.name] = one.failure;
    if (failed_releases_[one.name] != one.failure)
      warning(what + ": not released by IPAM: " + one.failure);
  }
  failed_releases_ = std::move(owed);
  report_condition("addresses that IPAM has not released",
                   gc_run.address_releases_failure.empty()
                       ? ok()
                       : Status(Error(Code::internal, gc_run.address_releases_failure)));
}

void Telemetry::report_gc(const gc::GcRun& gc_run) {
  metrics::GcCounts counts;
  std::map<node::RecordName, std::string> quarantined;
  for (const gc::Outcome& outcome : gc_run.outcomes) {
    ++(outcome.verdict == gc::Verdict::live   ? counts.live
       : outcome.verdict == gc::Verdict::dead ? counts.dead
                                              : counts.unknown);
    if (outcome.released)
      ++counts.released, info(outcome.record.text() + ": released: " + outcome.reason);
    if (!outcome.failure.empty()) ++counts.failed;
    if (!outcome.is_quarantined()) continue;
    if (outcome.vf) ++counts.quarantined;
    quarantined[outcome.record] = outcome.text();
    if (quarantined_[outcome.record] != outcome.text())
      warning(outcome.record.text() + ": quarantined: " + outcome.text());
  }
  quarantined_ = std::move(quarantined);
  counts.pending_releases = static_cast<size_t>(
      std::count_if(gc_run.address_releases.begin(), gc_run.address_releases.end(),
                    [](const gc::AddressRelease& one) { return !one.released; }));
  report_address_releases(gc_run);
  report_strays(gc_run);
  metrics::show_gc(metrics_, counts, std::time(nullptr));
}

void Telemetry::report_reload(const config::Reload& reload) {
  if (reload.kind == config::Reload::Kind::unchanged) return;
  metrics::count_reload(metrics_, reload.kind == config::Reload::Kind::taken);
  for (const std::string& text : reload.warnings) warning("configuration: " + text);
  for (const std::string& text : reload.reasons)
    error("configuration refused, the last good one stays in force: " + text);
  if (reload.kind == config::Reload::Kind::taken)
    info("configuration loaded: changed: " + join(reload.changed, ", "));
}

void Telemetry::report_registrations(
    const std::map<std::string, kube::Registration>& registrations) {
  std::map<std::string, bool> shown;
  for (const auto& [pool, now] : registrations) {
    shown[pool] = now.registered;
    const kube::Registration& before = registrations_[pool];
    if (now.attempts > before.attempts) metrics::count_registration(metrics_, pool, now.registered);
    if (now.registered == before.registered) continue;
    const std::string why = now.last_error ? ": " + now.last_error->text() : "";
    info(pool + (now.registered
                     ? ": registered with the kubelet (" + std::string(name(now.mode)) + ")"
                     : ": no longer registered" + why));
  }
  registrations_ = registrations;
  metrics::show_registrations(metrics_, shown);
}

void Telemetry::report_allocation(const std::string& resource, bool granted,
                                  std::chrono::duration<double> took) {
  metrics::count_allocation(metrics_, resource, granted, took);
}

}  // namespace ibpod::agent
