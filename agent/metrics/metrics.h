// The agent's metrics: every name, help text and label in one place, and functions that set them.
// docs/metrics.md lists them.
#pragma once

#include "lib/base/clock.h"
#include "lib/http/metrics.h"

#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::agent::metrics {

// In the document's order.
const std::vector<http::Family>& metric_families();

void show_version(http::Metrics& metrics, const std::string& version);

// The devices of a pool; one that a pod has is healthy or not besides.
struct PoolCounts {
  std::string pool;
  size_t healthy = 0, unhealthy = 0, in_use = 0;
  std::map<std::string, size_t> reasons = {};  // of the unhealthy ones; of a closed set
};
// All pools: those that are not among them are shown no longer.
void show_pools(http::Metrics& metrics, const std::vector<PoolCounts>& pools);
// All pools, and whether the kubelet has each now.
void show_registrations(http::Metrics& metrics, const std::map<std::string, bool>& registered);

// One event each.
void count_registration(http::Metrics& metrics, const std::string& pool, bool accepted);
void count_allocation(http::Metrics& metrics, const std::string& pool, bool granted,
                      std::chrono::duration<double> took);
// `reason` is of a closed set: "healthy", or why not.
void count_health_change(http::Metrics& metrics, const std::string& pool, std::string_view reason);
void show_configuration(http::Metrics& metrics, bool good);
void count_reload(http::Metrics& metrics, bool taken);

// The result of one run over all attachments.
struct GcCounts {
  size_t live = 0, dead = 0, unknown = 0;  // records, by verdict
  size_t released = 0, failed = 0;         // of the dead
  size_t quarantined = 0;                  // devices out of service after it
  size_t pending_releases = 0;             // ended attachments whose addresses IPAM has still
};
void show_gc(http::Metrics& metrics, const GcCounts& counts, time_t ended);

// `mode`: as the kernel has it; empty where it has not told.
void show_rdma_netns(http::Metrics& metrics, const std::string& wanted, const std::string& mode,
                     bool matches_config);
// The number of failed preparations at each PF, by its PCI address.
void show_preparation(http::Metrics& metrics, const std::map<std::string, size_t>& errors);
// A fabric's SM service: whether it is reached, and the node's bindings there.
void show_fabric(http::Metrics& metrics, const std::string& fabric, bool reached, size_t verified,
                 size_t unsettled);

// The node's certificate for a fabric's SM service.
struct FabricCertificate {
  std::string fabric;
  bool usable = false;
  std::optional<std::chrono::system_clock::time_point> expires;  // nothing: it cannot be read
};
void show_certificates(http::Metrics& metrics, const std::vector<FabricCertificate>& all);

// A counter of an RDMA device's port, with the pod that has the device, if one has.
struct PortCounter {
  std::string device, port, counter;
  std::string name_space, pod, container_id;
  double value = 0;
};
// All of them; `unread` devices could not be read.
void show_port_counters(http::Metrics& metrics, const std::vector<PortCounter>& counters,
                        size_t unread);

}  // namespace ibpod::agent::metrics
