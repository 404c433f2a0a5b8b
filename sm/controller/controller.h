// Controller: the reconcile loop. It applies requests to the registry, passes the partitions to the
// subnet manager, compares the observed P_Key tables with the desired ones, plans repairs, and
// answers waiting callers. For one thread (ControllerThread); nothing in here blocks.
//
// Call tick() after every event: it writes all changes since the last tick in one commit, and only
// then answers callers and notifies watchers.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/bindings/registries.h"
#include "sm/controller/change_limit.h"
#include "sm/controller/declared_reconciler.h"
#include "sm/controller/diagnostics.h"
#include "sm/controller/namespace_history.h"
#include "sm/controller/pending_requests.h"
#include "sm/controller/postponed_binds.h"
#include "sm/controller/published_partitions.h"
#include "sm/controller/requested_ports.h"
#include "sm/controller/watches.h"
#include "sm/opensm/subnet_manager.h"
#include "sm/partitions/declared_partitions.h"
#include "sm/probe/port_prober.h"
#include "sm/telemetry/telemetry.h"
#include "sm/verify/port_verifier.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::controller {

struct ControllerSettings {
  std::string epoch;              // unique to this process
  Duration call_timeout{30'000};  // the longest wait of a Bind or an Unbind
  size_t max_pending = 20'000;
  diagnose::SmSettings sm = {};  // for health()
  // The port of the subnet manager, if known.
  std::optional<ib::Guid> own_port = {};
  // How long a node's report of a port is valid if the port itself cannot be read.
  Duration node_report_lifetime{180'000};
  // False: no file declares partitions, and requests can change those that an earlier file
  // declared.
  bool has_declared_file = true;
  // The rate limit for the Binds of one node.
  ChangeLimit::Settings changes = {};
};

class Controller {
 public:
  template <typename Value>
  using Done = fabricapi::Done<Value>;
  using Caller = fabricapi::Caller;
  using Time = Deadline::Clock::time_point;

  // All of them outlive the Controller.
  struct Deps {
    bindings::Registries& registry;
    opensm::SubnetManager& subnet_manager;
    probe::PortProber& prober;
    telemetry::Telemetry& telemetry;
    // The present time, for time stamps that must be later than a status that was just read.
    std::function<Time()> clock;
  };
  Controller(Deps deps, ControllerSettings settings, state::Now now);

  // Sets the clock until the next call.
  void set_time(state::Now now) { now_ = now; }

  // The calls. Each Done runs exactly once.
  void create_partition(const Caller& caller, const fabric::Partition& partition,
                        Done<fabric::PartitionStatus> done);
  void update_partition(const Caller& caller, const fabric::Partition& partition,
                        Done<fabric::PartitionStatus> done);
  void delete_partition(const Caller& caller, const std::string& name,
                        Done<fabric::PartitionStatus> done);
  void forget_ports(const Caller& caller, const std::string& partition,
                    Done<fabric::PartitionStatus> done);
  void bind(const Caller& caller, const fabricapi::BindRequest& request,
            const fabricapi::CallContext& context, Done<fabric::Binding> done);
  void unbind(const Caller& caller, const fabric::Attachment& attachment, Deadline deadline,
              Done<fabric::Binding> done);
  void sync(const Caller& caller, const fabricapi::SyncRequest& request,
            Done<fabricapi::SyncAnswer> done);
  void observe(const Caller& caller, const fabricapi::ObserveRequest& request,
               Done<v1::ObserveResponse> done);
  void allocate_guids(const Caller& caller, const fabricapi::AllocateRequest& request,
                      Done<std::vector<fabricapi::AllocatedGuid>> done);
  void forget_node(const Caller& caller, const fabricapi::ForgetRequest& request, Deadline deadline,
                   Done<v1::FabricNode> done);
  void plan(const Caller& caller, const fabricapi::PlanRequest& request,
            Done<v1::PlanResponse> done);
  void explain(const Caller& caller, const fabricapi::ExplainRequest& request,
               Done<fabricapi::Explanation> done);
  void health(const Caller& caller, Done<v1::FabricHealthResponse> done);

  // Lookups, answered after a commit.
  void list_partitions(const Caller& caller, const fabricapi::PageRequest& page,
                       Done<fabricapi::ListPage<fabric::PartitionStatus>> done);
  void get_binding(const Caller& caller, const fabric::Attachment& attachment,
                   Done<fabric::Binding> done);
  void list_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                     const fabricapi::PageRequest& page,
                     Done<fabricapi::ListPage<fabric::Binding>> done);
  void watch_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                      Watches::Callback on_change, Done<std::shared_ptr<fabricapi::Watch>> done);
  void list_nodes(const Caller& caller, Done<v1::ListNodesResponse> done);

  // Applies the partitions of the declared file. Failed ones are retried when the conflict may be
  // gone.
  void declare(const partitions::DeclaredPartitions& declared) {
    declared_.set(declared, now_.steady);
  }
  // The declared file cannot be read or parsed: the last declaration stays in force.
  void declared_unreadable(const std::string& why) { declared_.set_unreadable(why); }

  // Events.
  void engine_changed();
  void probed(const probe::ProbeBatch& batch);

  // Updates the gauges of bindings, subnet manager, declared file and health checks.
  void update_metrics();

  // Commits, publishes and answers; see above.
  void tick();
  // When the next tick() is due without an event; nothing: never.
  std::optional<Time> due() const;

 private:
  // The error of a Bind that its caller has cancelled.
  static const Error kCancelled;

  // A call that waits until a node is forgotten.
  struct PendingForget {
    std::string node;
    Time until;
    Done<v1::FabricNode> done;
  };

  template <typename Value>
  void answer(Result<Value> result, Done<Value> done);
  // Runs `lookup` after the next commit.
  template <typename Value, typename Lookup>
  void answer_committed(Done<Value> done, Lookup lookup);
  void when_committed(std::function<void(const Status&)> answer);
  // Writes a success to the audit log after the commit, and a failed commit as an error.
  void audit(const Caller& caller, std::string action, std::string subject, const Status& status,
             telemetry::Telemetry::Effect effect = telemetry::Telemetry::Effect::change);
  telemetry::Telemetry::Effect effect_since(uint64_t changes) const;
  void audit_bind(const PostponedBind& bind, const Status& status,
                  telemetry::Telemetry::Effect effect);
  void audit_namespace(const PostponedBind& bind);
  void audit_expired(const std::vector<fabric::Attachment>& expired, const Status& committed);
  void remember_namespaces();
  Time until(Deadline deadline) const;

  bindings::TableCapacity table_capacity(ib::Guid port) const;
  bindings::PortFacts facts_of(const fabricapi::BindRequest& request) const;
  bool blocked_by_departing(const fabricapi::BindRequest& request) const;
  Result<fabric::Binding> bind_now(const Caller& caller, const fabricapi::BindRequest& request);
  void try_bind(PostponedBind bind);
  void refuse(const PostponedBind& bind, const Error& why);
  void wait(const fabric::Binding& binding, PendingRequests::WaitFor what, Time until,
            Done<fabric::Binding> done);
  Status check_engine(const fabricapi::PlanRequest& request) const;
  Status check_rate(const Caller& caller, const fabricapi::BindRequest& request) const;
  void note_seen_ports();

  void set_engine_fault(fabric::Condition now);
  void reserve_manual_pkeys();
  void apply(const verify::PortVerdicts& verdicts);
  void apply(const verify::PortVerdict& verdict);
  void report_repairs(const probe::ProbeBatch& batch);

  bool commit();
  void publish();
  void notify_changes();
  bool retry_postponed();
  bool reconcile_declared();
  void expire_postponed();
  void start_repairs();
  void poll_pending();
  void answer_forgetting();
  std::optional<telemetry::Telemetry::BindDurations> durations_of(
      const fabric::Attachment& attachment) const;

  Deps deps_;
  ControllerSettings settings_;
  state::Now now_;
  RequestedPorts requested_;
  verify::PortVerifier verifier_;
  PublishedPartitions published_;
  DeclaredReconciler declared_;
  Diagnostics diagnostics_;
  fabric::Condition engine_fault_;  // why no change can be applied; Reason::none: changes can
  std::set<ib::Guid> polled_;
  NamespaceHistory namespaces_;
  ChangeLimit change_limit_;
  std::vector<std::function<void(const Status&)>> on_commit_;
  std::map<fabric::Attachment, Time> bind_requested_;  // time of the call of each pending Bind
  PendingRequests pending_;
  PostponedBinds postponed_;
  std::vector<PendingForget> pending_forgets_;
  Watches watches_;
};

template <typename Value, typename Lookup>
void Controller::answer_committed(Done<Value> done, Lookup lookup) {
  when_committed([done = std::move(done), lookup = std::move(lookup)](const Status& committed) {
    if (committed)
      done(lookup());
    else
      done(committed.error());
  });
}

}  // namespace ibpod::sm::controller
