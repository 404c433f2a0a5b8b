// LeaseLoop: the thread that keeps the node's bindings at the SM service. It names all that the
// node has attached before the lease runs out, settles what the service says otherwise, and tells
// it what the P_Key tables of the node's own devices hold.
#pragma once

#include "agent/sm_client/bindings.h"
#include "agent/sm_client/node_ports.h"
#include "lib/node/records.h"
#include "lib/nodeapi/node.h"

#include <functional>
#include <set>
#include <string>

namespace ibpod::agent::sm_client {

// How the service is reached, for people and metrics.
struct SmStatus {
  bool reached = false;                   // the last question was answered
  std::string error;                      // why not
  bool refused = false;                   // ... as the service has answered that this node may not
  size_t verified = 0;                    // bindings of the node that are verified
  size_t unverified = 0;                  // ... and that are not
  std::set<ib::Guid> unknown_ports = {};  // ports that the service does not know for the node's
  bool operator==(const SmStatus&) const = default;
};

// The dependencies of the thread. All of them outlive it.
struct LeaseLoopDeps {
  fabricapi::Client& client;
  Bindings& bindings;
  const node::Records& records;
  std::string node;
  // The service does not have it: it has lost it, or the plugin was killed before it could ask, or
  // its device is on another fabric: then this answers false.
  std::function<bool(const nodeapi::AttachmentName&, Bindings::Revision asked)> on_lost;
  // The P_Key tables of these ports, as far as they are the node's and can be read.
  std::function<std::vector<fabricapi::ObserveRequest::PortTable>(const std::vector<ib::Guid>&)>
      read_tables;
  std::function<void(const SmStatus&)> on_status;
};

class LeaseLoop {
 public:
  struct Timing {
    Duration first_pause{500};         // the first pause after a failure
    Duration max_pause{30'000};        // and the longest one
    Duration min_sync_interval{50};    // between two Syncs, whatever the service says
    Duration observe_interval{1'000};  // between two looks while the service waits for tables
  };
  explicit LeaseLoop(LeaseLoopDeps deps) : LeaseLoop(std::move(deps), Timing()) {}
  LeaseLoop(LeaseLoopDeps deps, Timing timing);
  // Waits for the question that is underway.
  ~LeaseLoop();
  LeaseLoop(const LeaseLoop&) = delete;
  LeaseLoop& operator=(const LeaseLoop&) = delete;

  // From any thread: something has been asked for, and the service may wait for its port's table.
  void observe_now();
  // The same, and the service is told at once of all that it is told in a Sync.
  void sync_now();
  // The same: these are the node's ports; the service is told of them at once, and in each Sync.
  void set_ports(const NodePorts& ports);
  // True if the service had a binding of it at the last Sync.
  bool has_binding(const fabric::Attachment& attachment) const;

 private:
  void run();
  // Both questions, as far as they are due; when to ask again.
  Deadline tick(Deadline& renew, BackOff& pauses);
  bool wait(Deadline until);
  bool take_sync_now();
  bool has_unknown_vf(const fabricapi::SyncAnswer& answer) const;
  Status check_records() const;
  // When to ask again.
  Result<Duration> sync();
  size_t apply(const fabricapi::SyncAnswer& answer, Bindings::Revision asked);
  void set_bound(const fabricapi::SyncAnswer& answer);
  void unbind_if_unrecorded(const fabric::Binding& binding);
  bool is_recorded(const fabric::Binding& binding) const;
  // True if the service waits for tables of ours.
  Result<bool> observe();
  void report(const fabricapi::SyncAnswer& answer, size_t lost);

  LeaseLoopDeps deps_;
  const Timing timing_;
  std::string stamp_;
  std::vector<ib::Guid> requested_ports_;  // ports that the service waits for
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<fabric::Attachment> bound_;  // at the last Sync; this and below: guarded by mutex_
  NodePorts ports_;
  bool sync_now_ = false;
  bool stopping_ = false;
  bool observe_now_ = false;
  std::thread thread_;
};

}  // namespace ibpod::agent::sm_client
