// Renewal: the thread that keeps the node's bindings at the SM service. It names all that the node
// has attached before the lease runs out, settles what the service says otherwise, and tells it
// what the P_Key tables of the node's own devices hold.
#pragma once

#include "agent/sm_client/bindings.h"
#include "agent/sm_client/node_ports.h"
#include "lib/node/records.h"
#include "lib/nodeapi/node.h"

#include <functional>
#include <set>
#include <string>

namespace ibpod::agent {

// How the service is reached, for people and metrics.
struct Contact {
  bool reached = false;             // the last question was answered
  std::string trouble;              // why not
  bool refused = false;             // ... as the service has answered that this node may not
  size_t bound = 0;                 // bindings of the node that are verified
  size_t unsettled = 0;             // ... and that are not
  std::set<ib::Guid> unknown = {};  // ports that the service does not know for the node's
  bool operator==(const Contact&) const = default;
};

// What the thread works on. All of it outlives it.
struct RenewalWorld {
  fabricapi::Client& client;
  Bindings& bindings;
  const node::Records& records;
  std::string node;
  // The service does not have it: it has lost it, or the plugin was killed before it could ask, or
  // its device is on another fabric: then this answers false.
  std::function<bool(const nodeapi::AttachmentName&, Bindings::Moment asked)> lost;
  // The P_Key tables of these ports, as far as they are the node's and can be read.
  std::function<std::vector<fabricapi::ObserveRequest::Seen>(const std::vector<ib::Guid>&)> tables;
  std::function<void(const Contact&)> told;
};

class Renewal {
 public:
  struct Pace {
    Duration first{500};      // the first pause after a failure
    Duration most{30'000};    // and the longest one
    Duration least{50};       // between two Syncs, whatever the service says
    Duration observe{1'000};  // between two looks while the service waits for tables
  };
  explicit Renewal(RenewalWorld world) : Renewal(std::move(world), Pace()) {}
  Renewal(RenewalWorld world, Pace pace);
  // Waits for the question that is underway.
  ~Renewal();
  Renewal(const Renewal&) = delete;
  Renewal& operator=(const Renewal&) = delete;

  // From any thread: something has been asked for, and the service may wait for its port's table.
  void hurry();
  // The same, and the service is told at once of all that it is told in a Sync.
  void sync_now();
  // The same: these are the node's ports; the service is told of them at once, and in each Sync.
  void set_ports(const NodePorts& ports);
  // Whether the service had a binding of it at the last Sync.
  bool has_told_of(const fabric::Attachment& attachment) const;

 private:
  void run();
  // Both questions, as far as they are due; when to ask again.
  Deadline turn(Deadline& renew, BackOff& pauses);
  bool wait(Deadline until);
  bool take_sync_now();
  bool has_unknown_vf(const fabricapi::SyncAnswer& answer) const;
  Status check_records() const;
  // When to ask again.
  Result<Duration> sync();
  size_t settle(const fabricapi::SyncAnswer& answer, Bindings::Moment asked);
  void remember(const fabricapi::SyncAnswer& answer);
  void end_if_unrecorded(const fabric::Binding& binding);
  bool is_recorded(const fabric::Binding& binding) const;
  // Whether the service waits for tables of ours.
  Result<bool> observe();
  void tell(const fabricapi::SyncAnswer& answer, size_t lost);

  RenewalWorld world_;
  const Pace pace_;
  std::string stamp_;
  std::vector<ib::Guid> wanted_;  // ports that the service waits for
  mutable std::mutex mutex_;
  std::condition_variable told_;
  std::set<fabric::Attachment> there_;  // at the last Sync; this and below: guarded by mutex_
  NodePorts ports_;
  bool sync_now_ = false;
  bool stopping_ = false;
  bool hurry_ = false;
  std::thread thread_;
};

}  // namespace ibpod::agent
