// Agent: the one thread that looks after a node. It reads what there is, deals it to the pools,
// tells the kubelet, and waits for something to happen; others wake it (event_queue.h), and are
// answered from what it saw last (snapshot.h).
#pragma once

#include "agent/config/config.h"
#include "agent/config/reloader.h"
#include "agent/device_watch.h"
#include "agent/event_queue.h"
#include "agent/gc/gc_loop.h"
#include "agent/host.h"
#include "agent/kubelet/device_files.h"
#include "agent/kubelet/pool_resources.h"
#include "agent/node_service.h"
#include "agent/refresh_requests.h"
#include "agent/sm_client/fabrics.h"
#include "agent/snapshot/port_poll_schedule.h"
#include "agent/snapshot/snapshot.h"
#include "agent/telemetry.h"
#include "lib/http/server.h"
#include "lib/log/log.h"
#include "lib/rpc/server.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace grpc {
class Service;
}

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

  Status start();
  int watch_configuration();
  void start_gc();
  kube::KubeletOptions kubelet();
  Status open_fabrics();
  Status serve_api();
  void write_agent_required();
  bool needs_partitions() const;
  void report_certificates();
  void set_rdma_mode_status(prepare::RdmaModeStatus verdict);
  void prepare_pfs(Duration timeout);
  bool should_retry_preparation() const;
  bool has_new_pf();
  void serve_pools();
  void refresh(const device_plugin::ChangeSet& changed);
  void publish(const snapshot::Snapshot& before, const snapshot::Snapshot& now, bool thoroughly);
  void handle(const PendingEvents& pending);
  void update_rdma_mode();
  void read_configuration();
  void apply_configuration();

  // From any thread.
  void refresh_now(Deadline deadline);
  Status alive() const;
  bool is_registered() const;
  Status ready() const;
  std::string metrics_page();
  void on_allocate(const kubelet::PoolResource::AllocationEvent& told);
  void tidy_files();
  void on_sm_status(const std::string& fabric, const sm_client::SmStatus& before,
                    const sm_client::SmStatus& now);

  const config::Config& config() const { return reloader_.config(); }
  prepare::RdmaNetns rdma_netns() const;

  config::Reloader reloader_;
  std::unique_ptr<Host> host_;
  Telemetry telemetry_;
  EventQueue events_;
  Latest<snapshot::Snapshot> snapshot_;
  health::RefreshTimes refresh_times_;  // of its thread
  Latest<health::RefreshTimes> published_times_;
  RefreshRequests refresh_requests_;
  snapshot::PortPollSchedule port_poll_;
  prepare::RdmaModeStatus rdma_mode_;
  std::vector<device_plugin::Pool> pools_;
  device_plugin::Allocated allocated_;
  std::vector<std::string> preparation_errors_;
  std::set<ib::PciAddress> pfs_, active_pfs_;
  bool has_refreshed_ = false;  // a look has succeeded
  // When its thread has last come round.
  std::atomic<std::chrono::steady_clock::time_point> last_tick_ = std::chrono::steady_clock::now();
  kubelet::DeviceFiles files_;
  bool files_complete_ = false;  // the last refresh found nothing wrong
  kubelet::PoolResourceDeps resource_deps_;
  std::optional<kubelet::PoolResources> resources_;
  std::optional<gc::GcLoop> gc_loop_;
  std::unique_ptr<sm_client::Fabrics> fabrics_;  // null: there are none
  std::optional<NodeService> node_service_;
  std::unique_ptr<grpc::Service> grpc_service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<http::Server> http_server_;
  std::optional<DeviceWatch> device_watch_;
};

void check_sections(const config::Config& config, config::Findings& findings);

}  // namespace ibpod::agent
