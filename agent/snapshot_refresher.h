// SnapshotRefresher: has the newest snapshot of the node, and makes the next one: it reads the
// devices, assigns them to the pools, and evaluates their health.
#pragma once

#include "agent/config_follower.h"
#include "agent/gc/gc_loop.h"
#include "agent/health/node_findings.h"
#include "agent/host.h"
#include "agent/node_preparation.h"
#include "agent/refresh_requests.h"
#include "agent/sm_client/fabrics.h"
#include "agent/snapshot/port_poll_schedule.h"
#include "agent/snapshot/snapshot.h"
#include "agent/telemetry.h"
#include "lib/base/latest.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::agent {

// The sources of a snapshot in other parts of the agent.
struct RefreshDeps {
  const Path& device_info_folder;  // says which devices the kubelet has given to pods
  const gc::GcLoop& gc_loop;
  sm_client::Fabrics* fabrics = nullptr;  // gets the ports; null: there are none
};

struct SnapshotChange {
  std::shared_ptr<const snapshot::Snapshot> before, now;
};

// For the agent's own thread, except for what snapshot(), times() and requests() return. The
// constructor's arguments outlive it.
class SnapshotRefresher {
 public:
  SnapshotRefresher(const ConfigFollower& configuration, Host& host,
                    const NodePreparation& preparation, Telemetry& telemetry)
      : config_(configuration), host_(host), preparation_(preparation), telemetry_(telemetry) {}

  // For any thread.
  const Latest<snapshot::Snapshot>& snapshot() const { return snapshot_; }
  // Set after the snapshot: read it before snapshot().
  const Latest<health::RefreshTimes>& times() const { return times_; }

  // Takes the pools from the configuration, for the refreshes from now on.
  void configure_pools();
  // The resources of the pools that this agent serves.
  std::set<std::string> resources() const;

  // Looks at what may have `changed`. The snapshot before and after it, if they differ or the ports
  // were read; nothing also if the devices cannot be read now.
  std::optional<SnapshotChange> refresh(const device_plugin::ChangeSet& changed,
                                        const RefreshDeps& deps);
  // True if a refresh has succeeded.
  bool has_refreshed() const { return has_refreshed_; }
  // When ports have to be read again, if `ports_read` says whether the last refresh has read them.
  Deadline next_port_poll(bool ports_read);

  // For any thread: the callers that wait for a refresh.
  RefreshRequests& requests() { return requests_; }

 private:
  const ConfigFollower& config_;
  Host& host_;
  const NodePreparation& preparation_;
  Telemetry& telemetry_;
  Latest<snapshot::Snapshot> snapshot_;
  Latest<health::RefreshTimes> times_;
  snapshot::PortPollSchedule port_poll_;
  std::vector<device_plugin::Pool> pools_;
  device_plugin::Allocated allocated_;  // as it could be read last
  bool has_refreshed_ = false;
  RefreshRequests requests_;
};

}  // namespace ibpod::agent
