// Agent: the one thread that looks after a node. It reads what there is, deals it to the pools,
// tells the kubelet, and waits for something to happen; others wake it (events.h), and are answered
// from what it saw last (view.h).
#pragma once

#include "agent/config/reloader.h"
#include "agent/kubelet/device_files.h"
#include "agent/device_watch.h"
#include "agent/event_queue.h"
#include "agent/sm_client/fabrics.h"
#include "agent/refresh_requests.h"
#include "agent/host.h"
#include "agent/node_service.h"
#include "agent/snapshot/port_poll_schedule.h"
#include "agent/telemetry.h"
#include "agent/kubelet/pool_resources.h"
#include "agent/gc/gc_loop.h"
#include "agent/snapshot/snapshot.h"
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
  static Result<std::unique_ptr<Agent>> open(Reloader reloader, log::Log& log);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

  // Until stop(). An error where there is no way to begin, or to hear of the kernel any more.
  Status run();
  // From any thread.
  void stop() { events_.tell({.stop = true}); }
  // Ends what others could hang on to: the kubelet's streams, the sockets. A sweep that is underway
  // is not waited for: the process may end at any point of it.
  void leave();

 private:
  Agent(Reloader reloader, std::unique_ptr<Machine> machine, Events events, log::Log& log);

  Status begin();
  int watch_configuration();
  void start_sweeping();
  kube::Kubelet kubelet();
  Status open_fabrics();
  Status serve_questions();
  void mark_node();
  bool needs_partitions() const;
  void report_certificates();
  void take_rdma_mode(RdmaModeVerdict verdict);
  void prepare(Duration patience);
  bool may_prepare_the_rest() const;
  bool has_new_pf();
  void serve_pools();
  void look(const device_plugin::Changed& changed);
  void tell(const View& before, const View& now, bool thoroughly);
  void follow(const Happened& happened);
  void look_at_rdma_mode();
  void read_configuration();
  void take_configuration();

  // From any thread.
  void look_afresh(Deadline deadline);
  Status alive() const;
  bool is_registered() const;
  Status ready() const;
  std::string metrics_page();
  void note(const Offering::Told& told);
  void tidy_files();
  void note_contact(const std::string& fabric, const Contact& before, const Contact& now);

  const Config& config() const { return reloader_.config(); }
  RdmaNetns rdma_netns() const;

  Reloader reloader_;
  std::unique_ptr<Machine> machine_;
  Report report_;
  Events events_;
  Latest<View> view_;
  LookTimes looks_;  // of its thread
  Latest<LookTimes> times_;
  LookRequests look_requests_;
  PortPatience port_patience_;
  RdmaModeVerdict rdma_mode_;
  std::vector<device_plugin::Pool> pools_;
  device_plugin::Held held_;
  std::vector<std::string> troubles_;
  std::set<ib::PciAddress> pfs_, active_pfs_;
  bool looked_ = false;  // a look has succeeded
  // When its thread has last come round.
  std::atomic<std::chrono::steady_clock::time_point> turned_ = std::chrono::steady_clock::now();
  DeviceFiles files_;
  bool files_complete_ = false;  // the last refresh found nothing wrong
  OfferingPlaces places_;
  std::optional<Resources> resources_;
  std::optional<Sweeping> sweeping_;
  std::unique_ptr<Fabrics> fabrics_;  // null: there are none
  std::optional<NodeAnswers> answers_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<http::Server> pages_;
  std::optional<DeviceWatch> device_watch_;
};

}  // namespace ibpod::agent
