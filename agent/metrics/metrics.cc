#include "agent/metrics/metrics.h"

#include <cstdlib>

namespace ibpod::agent::metrics {
namespace {

using http::Kind;
using http::Sample;

const http::Family& family(std::string_view name) {
  for (const http::Family& family : metric_families()) {
    if (family.name == name) return family;
  }
  std::abort();
}

std::vector<http::Family> families_of_the_agent() {
  using enum Kind;
  return {
      {"ibpod_build_info", "The version of the running program; always 1.", gauge, {"version"}},
      {"ibpod_pool_devices",
       "Devices of a pool by state; a device in use is healthy or unhealthy, too.",
       gauge,
       {"pool", "state"}},
      {"ibpod_unhealthy_devices",
       "Unhealthy devices of a pool by reason; a reason without devices is not shown.",
       gauge,
       {"pool", "reason"}},
      {"ibpod_registered",
       "1 if the pool is registered with the kubelet, else 0.",
       gauge,
       {"pool"}},
      {"ibpod_registrations_total",
       "Attempts to register a pool with the kubelet, by result.",
       counter,
       {"pool", "result"}},
      {"ibpod_allocations_total",
       "Allocate calls from the kubelet, by result.",
       counter,
       {"pool", "result"}},
      {"ibpod_allocation_seconds",
       "Duration of Allocate calls.",
       histogram,
       {"pool"},
       {0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.1, 1}},
      {"ibpod_health_changes_total",
       "Changes of a device to healthy, or to unhealthy for this reason.",
       counter,
       {"pool", "reason"}},
      {"ibpod_attachments",
       "Attachment records at the last garbage collection, by verdict.",
       gauge,
       {"verdict"}},
      {"ibpod_quarantined_devices", "Devices out of service until they are cleaned up.", gauge},
      {"ibpod_owed_addresses", "Ended attachments whose addresses IPAM has not released yet.",
       gauge},
      {"ibpod_sweep_releases_total",
       "Attachments of dead pods that garbage collection released, or failed to release.",
       counter,
       {"result"}},
      {"ibpod_sweeps_total", "Garbage collections that have ended.", counter},
      {"ibpod_last_sweep_timestamp_seconds",
       "Unix time at which the last garbage collection ended.", gauge},
      {"ibpod_config_reloads_total",
       "Reloads of the configuration file, by result.",
       counter,
       {"result"}},
      {"ibpod_config_good", "1 if the current configuration file is in force, 0 if it was refused.",
       gauge},
      {"ibpod_rdma_netns_as_wanted",
       "1 if the RDMA namespace mode is the configured one, else 0.",
       gauge,
       {"wanted", "mode"}},
  };
}

std::vector<http::Family> families_of_fabrics() {
  using enum Kind;
  return {
      {"ibpod_sm_service_reached",
       "1 if the SM service of a fabric answered the last call, else 0.",
       gauge,
       {"fabric"}},
      {"ibpod_node_bindings",
       "Bindings of this node at the SM service of a fabric, by state.",
       gauge,
       {"fabric", "state"}},
      {"ibpod_node_certificate_usable",
       "1 if this node can use its certificate for the SM service of a fabric, else 0.",
       gauge,
       {"fabric"}},
      {"ibpod_node_certificate_expiry_timestamp_seconds",
       "Unix time at which that certificate expires; not shown while it cannot be read.",
       gauge,
       {"fabric"}},
      {"ibpod_preparation_errors", "Errors of the last preparation of a PF.", gauge, {"pf"}},
  };
}

std::vector<http::Family> families_of_ports() {
  using enum Kind;
  return {
      {"ibpod_port_counter_total",
       "Port counters of the kernel; port_rcv_data and port_xmit_data are in units of 4 bytes.",
       counter,
       {"device", "port", "counter", "namespace", "pod", "container_id"}},
      {"ibpod_port_counters_unread_devices",
       "RDMA devices whose counters were not read: unreadable, or beyond the limit.", gauge},
  };
}

}  // namespace

const std::vector<http::Family>& metric_families() {
  static const std::vector<http::Family> families = [] {
    std::vector<http::Family> all = families_of_the_agent();
    for (const auto& more : {families_of_fabrics(), families_of_ports()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return families;
}

void show_version(http::Metrics& metrics, const std::string& version) {
  metrics.replace(family("ibpod_build_info"), {{{version}, 1}});
}

void show_pools(http::Metrics& metrics, const std::vector<PoolCounts>& pools) {
  std::vector<Sample> samples, unhealthy;
  for (const PoolCounts& pool : pools) {
    samples.push_back({{pool.pool, "healthy"}, static_cast<double>(pool.healthy)});
    samples.push_back({{pool.pool, "unhealthy"}, static_cast<double>(pool.unhealthy)});
    samples.push_back({{pool.pool, "in_use"}, static_cast<double>(pool.in_use)});
    for (const auto& [reason, count] : pool.reasons)
      unhealthy.push_back({{pool.pool, reason}, static_cast<double>(count)});
  }
  metrics.replace(family("ibpod_unhealthy_devices"), unhealthy);
  metrics.replace(family("ibpod_pool_devices"), samples);
}

void show_registrations(http::Metrics& metrics, const std::map<std::string, bool>& registered) {
  std::vector<Sample> samples;
  for (const auto& [pool, is] : registered) samples.push_back({{pool}, is ? 1.0 : 0.0});
  metrics.replace(family("ibpod_registered"), samples);
}

void count_registration(http::Metrics& metrics, const std::string& pool, bool accepted) {
  metrics.add(family("ibpod_registrations_total"), {pool, accepted ? "accepted" : "refused"});
}

void count_allocation(http::Metrics& metrics, const std::string& pool, bool granted,
                      std::chrono::duration<double> took) {
  metrics.add(family("ibpod_allocations_total"), {pool, granted ? "granted" : "refused"});
  metrics.observe(family("ibpod_allocation_seconds"), {pool}, took.count());
}

void count_health_change(http::Metrics& metrics, const std::string& pool, std::string_view reason) {
  metrics.add(family("ibpod_health_changes_total"), {pool, std::string(reason)});
}

void show_configuration(http::Metrics& metrics, bool good) {
  metrics.set(family("ibpod_config_good"), {}, good ? 1 : 0);
}

void count_reload(http::Metrics& metrics, bool taken) {
  metrics.add(family("ibpod_config_reloads_total"), {taken ? "taken" : "refused"});
  show_configuration(metrics, taken);
}

void show_gc(http::Metrics& metrics, const GcCounts& counts, time_t ended) {
  metrics.replace(family("ibpod_attachments"),
                  {{{"live"}, static_cast<double>(counts.live)},
                   {{"dead"}, static_cast<double>(counts.dead)},
                   {{"unknown"}, static_cast<double>(counts.unknown)}});
  const http::Family& releases = family("ibpod_sweep_releases_total");
  metrics.add(releases, {"released"}, static_cast<double>(counts.released));
  metrics.add(releases, {"failed"}, static_cast<double>(counts.failed));
  metrics.set(family("ibpod_quarantined_devices"), {}, static_cast<double>(counts.quarantined));
  metrics.set(family("ibpod_owed_addresses"), {}, static_cast<double>(counts.pending_releases));
  metrics.add(family("ibpod_sweeps_total"), {});
  metrics.set(family("ibpod_last_sweep_timestamp_seconds"), {}, static_cast<double>(ended));
}

void show_rdma_netns(http::Metrics& metrics, const std::string& wanted, const std::string& mode,
                     bool matches_config) {
  metrics.replace(family("ibpod_rdma_netns_as_wanted"),
                  {{{wanted, mode}, matches_config ? 1.0 : 0.0}});
}

void show_fabric(http::Metrics& metrics, const std::string& fabric, bool reached, size_t verified,
                 size_t unsettled) {
  metrics.set(family("ibpod_sm_service_reached"), {fabric}, reached ? 1 : 0);
  const http::Family& bindings = family("ibpod_node_bindings");
  metrics.set(bindings, {fabric, "verified"}, static_cast<double>(verified));
  metrics.set(bindings, {fabric, "unsettled"}, static_cast<double>(unsettled));
}

void show_certificates(http::Metrics& metrics, const std::vector<FabricCertificate>& all) {
  std::vector<Sample> usable, ends;
  for (const FabricCertificate& one : all) {
    usable.push_back({{one.fabric}, one.usable ? 1.0 : 0.0});
    if (!one.expires) continue;
    const auto end = std::chrono::system_clock::to_time_t(*one.expires);
    ends.push_back({{one.fabric}, static_cast<double>(end)});
  }
  metrics.replace(family("ibpod_node_certificate_usable"), usable);
  metrics.replace(family("ibpod_node_certificate_expiry_timestamp_seconds"), ends);
}

void show_preparation(http::Metrics& metrics, const std::map<std::string, size_t>& errors) {
  std::vector<Sample> samples;
  for (const auto& [pf, count] : errors) samples.push_back({{pf}, static_cast<double>(count)});
  metrics.replace(family("ibpod_preparation_errors"), samples);
}

void show_port_counters(http::Metrics& metrics, const std::vector<PortCounter>& counters,
                        size_t unread) {
  std::vector<Sample> samples;
  samples.reserve(counters.size());
  for (const PortCounter& counter : counters) {
    samples.push_back({{counter.device, counter.port, counter.counter, counter.name_space,
                        counter.pod, counter.container_id},
                       counter.value});
  }
  metrics.replace(family("ibpod_port_counter_total"), samples);
  metrics.set(family("ibpod_port_counters_unread_devices"), {}, static_cast<double>(unread));
}

}  // namespace ibpod::agent::metrics
