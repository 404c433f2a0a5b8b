// Agent: the main thread of the agent. It waits for events (event_queue.h) and decides the order of
// the steps after each; SnapshotRefresher, NodePreparation, KubeletDevices and GcLoop do them.
// Questions are answered on other threads, from the newest snapshot.
#pragma once

#include "agent/config/reloader.h"
#include "agent/config_follower.h"
#include "agent/device_watch.h"
#include "agent/event_queue.h"
#include "agent/gc/gc_loop.h"
#include "agent/heartbeat.h"
#include "agent/host.h"
#include "agent/kubelet_devices.h"
#include "agent/node_preparation.h"
#include "agent/servers.h"
#include "agent/sm_client/fabrics.h"
#include "agent/snapshot_refresher.h"
#include "agent/telemetry.h"
#include "lib/log/log.h"

#include <memory>
#include <optional>
#include <string>

namespace ibpod::agent {

class Agent {
 public:
  // `log` outlives the agent. An error: there is no way to begin.
  static Result<std::unique_ptr<Agent>> open(config::Reloader reloader, log::Log& log);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

  // Until stop(). An error where there is no way to begin, or to hear of the kernel any more.
  Status run();
  // From any thread.
  void stop() { events_.post({.stop = true}); }
  // Ends what others could hang on to: the kubelet's streams, the sockets. A sweep that is underway
  // is not waited for: the process may end at any point of it.
  void shut_down();

 private:
  Agent(config::Reloader reloader, std::unique_ptr<Host> host, EventQueue events, log::Log& log);

  // agent_start.cc
  Status start();
  Status open_fabrics();
  void start_gc();
  Status serve();

  void handle(const PendingEvents& pending);
  void read_configuration();
  void apply_configuration();
  void refresh(const device_plugin::ChangeSet& changed);
  void refresh_everything() { refresh({.everything = true, .ports = true}); }
  void serve_pools();

  // From any thread.
  void refresh_now(Deadline deadline);
  void report_certificates();
  std::string metrics_page();
  void on_sm_status(const std::string& fabric, const sm_client::SmStatus& before,
                    const sm_client::SmStatus& now);

  Telemetry telemetry_;
  ConfigFollower config_;
  std::unique_ptr<Host> host_;
  EventQueue events_;
  Heartbeat heartbeat_;
  NodePreparation preparation_;
  SnapshotRefresher refresher_;
  KubeletDevices kubelet_devices_;
  std::optional<gc::GcLoop> gc_loop_;
  std::unique_ptr<sm_client::Fabrics> fabrics_;  // null: there are none
  Servers servers_;
  std::optional<DeviceWatch> device_watch_;
};

void check_sections(const config::Config& config, config::Findings& findings);

}  // namespace ibpod::agent
