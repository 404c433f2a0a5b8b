// Controller: the reconcile loop. It applies requests to the registry, passes the partitions to the
// subnet manager, compares the observed P_Key tables with the desired ones, plans repairs, and
// answers waiting callers. For one thread (sm/service); nothing in here blocks.
//
// Call tick() after every event: it writes all changes since the last tick in one commit, and only
// then answers callers and notifies watchers.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/controller/change_limit.h"
#include "sm/controller/namespace_history.h"
#include "sm/controller/pending_requests.h"
#include "sm/controller/watches.h"
#include "sm/declared/declared.h"
#include "sm/diagnose/explain.h"
#include "sm/diagnose/health_checks.h"
#include "sm/opensm/subnet_manager.h"
#include "sm/probe/port_prober.h"
#include "sm/registry/registry.h"
#include "sm/telemetry/telemetry.h"
#include "sm/verify/port_observations.h"
#include "sm/verify/repair_queue.h"
#include "sm/verify/version_history.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm::controller {

struct ControllerSettings {
  std::string epoch;              // unique to this process
  Duration call_timeout{30'000};  // the longest wait of a Bind or an Unbind
  size_t max_pending = 20'000;
  diagnose::SmSettings sm = {};  // for health()
  // The port of the subnet manager, if known.
  std::optional<ib::Guid> own_port = {};
  // How long a node's report of a port is valid, if the port itself cannot be read.
  Duration node_report_lifetime{180'000};
  // False: no file declares partitions, and requests can change those that a former one declared.
  bool has_declared_file = true;
  // The rate limit for the Binds of one node.
  ChangeLimit::Settings changes = {};
};

class Controller {
 public:
  template <typename Value>
  using Done = fabricapi::Done<Value>;
  using Caller = fabricapi::Caller;

  // All of them outlive the Controller.
  struct Deps {
    registry::Registry& registry;
    opensm::SubnetManager& subnet_manager;
    probe::PortProber& prober;
    telemetry::Telemetry& telemetry;
    // The present time, for timestamps that must be later than a status that was just read.
    std::function<verify::VersionHistory::Time()> clock;
  };
  Controller(Deps deps, ControllerSettings settings, registry::Now now);

  // Sets the clock until the next call.
  void set_time(registry::Now now) { now_ = now; }

  // As in fabricapi::Fabric.
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
               Done<fabricapi::ObserveAnswer> done);
  void allocate_guids(const Caller& caller, const fabricapi::AllocateRequest& request,
                      Done<std::vector<fabricapi::AllocatedGuid>> done);
  void forget_node(const Caller& caller, const fabricapi::ForgetRequest& request, Deadline deadline,
                   Done<fabricapi::Node> done);
  void plan(const Caller& caller, const fabricapi::PlanRequest& request,
            Done<fabricapi::Plan> done);
  void explain(const Caller& caller, const fabricapi::ExplainRequest& request,
               Done<fabricapi::Explanation> done);
  void health(const Caller& caller, Done<fabricapi::FabricHealth> done);

  // Lookups. They are answered after a commit.
  void list_partitions(const Caller& caller, const fabricapi::PageRequest& page,
                       Done<fabricapi::ListPage<fabric::PartitionStatus>> done);
  void get_binding(const Caller& caller, const fabric::Attachment& attachment,
                   Done<fabric::Binding> done);
  void list_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                     const fabricapi::PageRequest& page,
                     Done<fabricapi::ListPage<fabric::Binding>> done);
  void watch_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                      Watches::Callback on_change,
                      Done<std::shared_ptr<fabricapi::Fabric::Watch>> done);
  void list_nodes(const Caller& caller, Done<std::vector<fabricapi::Node>> done);

  // Applies the partitions of the declared file. Failed ones are retried when the conflict may be
  // gone.
  void declare(const declared::DeclaredPartitions& declared);
  // The declared file cannot be read or parsed: the last declaration stays.
  void declared_unreadable(const std::string& why);

  // Events.
  void engine_changed();
  void probed(const probe::ProbeBatch& readings);

  // Updates the gauges of bindings, subnet manager, declared file and health checks.
  void update_metrics();

  // Commits, publishes and answers; see above.
  void tick();
  // When the next tick() is due without an event; nothing: none is.
  std::optional<verify::VersionHistory::Time> due() const;

 private:
  // The caller of its own lookups.
  static const Caller kController;
  // The error of a Bind that its caller has cancelled.
  static const Error kCancelled;

  // A Bind that waits until another attachment has left the port.
  struct PostponedBind {
    Caller caller;
    fabricapi::BindRequest request;
    fabricapi::CallContext context;
    verify::VersionHistory::Time until;
    Done<fabric::Binding> done;
    Error why = Error(Code::busy, "another attachment uses the port");
  };
  // A call that waits until a node is forgotten.
  struct PendingForget {
    std::string node;
    verify::VersionHistory::Time until;
    Done<fabricapi::Node> done;
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
  void audit_bind(const PostponedBind& one, const Status& status,
                  telemetry::Telemetry::Effect effect);
  void audit_namespace(const PostponedBind& one);
  void remember_namespaces();
  // Spec and `declared` of each partition that is not being deleted, by name.
  using PartitionsByName = std::map<std::string, std::pair<fabric::Partition, bool>>;
  PartitionsByName partitions_by_name() const;
  void audit_declared(const PartitionsByName& before);
  void audit_expired();
  verify::VersionHistory::Time until(Deadline deadline) const;
  registry::TableCapacity table_capacity(ib::Guid port) const;
  bool blocked_by_departing(const fabricapi::BindRequest& request) const;
  Result<fabric::Binding> bind_now(const Caller& caller, const fabricapi::BindRequest& request);
  void try_bind(PostponedBind postponed);
  void wait(const fabric::Binding& binding, PendingRequests::WaitFor what,
            verify::VersionHistory::Time until, Done<fabric::Binding> done);

  struct SnapshotTables;
  SnapshotTables snapshot_tables() const;
  fabric::WallTime wall_of(verify::VersionHistory::Time time) const;
  diagnose::FabricSnapshot snapshot(const SnapshotTables& known) const {
    return snapshot(known, resulting_partitions_, desired_keys_);
  }
  diagnose::FabricSnapshot snapshot(const SnapshotTables& known,
                                    const std::vector<fabric::PartitionDefinition>& definitions,
                                    const verify::DesiredKeys& desired) const;
  // All partitions of the subnet as OpenSM gets them, if `own` are those of ibpod-sm.
  std::vector<fabric::PartitionDefinition> resulting_partitions(
      std::vector<fabric::PartitionDefinition> own) const;
  diagnose::HealthChecks health_checks() const;
  Result<std::vector<fabric::PartitionDefinition>> planned(
      const fabricapi::PlanRequest& request) const;
  diagnose::Subject subject_of(const std::string& name) const;

  void reserve_pkeys();
  Status check_engine(const Caller& caller, const fabricapi::PlanRequest& request) const;
  Status check_index0(const fabricapi::BindRequest& request) const;
  Status check_guid_unused(const fabricapi::BindRequest& request);
  Status check_rate(const Caller& caller, const fabricapi::BindRequest& request) const;
  Status check_unseen(const fabricapi::BindRequest& request) const;
  Status check_reported_table(const fabricapi::ObserveRequest::PortTable& seen) const;
  size_t max_reported_entries() const;
  void note_ended();
  bool is_absent(ib::Guid port) const;
  bool is_abandoned(ib::Guid port) const;
  void set_engine_fault(fabric::Condition now);
  bool declare_again();
  void declare_later();
  Status make_declared();
  void log_refused(const std::vector<registry::DeclarationError>& refused);
  std::string refusal_of(const std::string& name, const Error& error) const;
  std::string refusal_of_declared(const std::string& name) const;
  std::set<std::string> refused_names() const;
  void show_declared(fabricapi::ListPage<fabric::PartitionStatus>& listed) const;
  Status release_declared();
  void take_manual_partitions();
  std::string wrong_subnet() const;
  void verify_port(ib::Guid port);
  void verify_scan(const probe::ProbeBatch& readings);
  void verify_absent();
  bool counts_without_proof(ib::Guid port, const verify::TableFinding& finding) const;
  bool is_visible_while_bound(const fabric::Binding& binding) const;
  bool may_be_released(ib::Guid port) const;
  void note_seen_ports();
  bool was_never_seen(ib::Guid port) const;
  bool has_virtual_ports() const;
  bool is_silent(ib::Guid port) const;
  std::vector<diagnose::StuckDeletion> stuck_deletions() const;
  diagnose::DeclaredFileFaults declared_file_faults() const;
  fabric::Condition why_unseen(ib::Guid port, const fabric::Condition& status) const;
  bool awaits_sm(ib::Guid port, const ib::PKeyTable& table) const;
  bool may_repair() const;
  void plan_repair(ib::Guid port, const verify::TableFinding& finding);
  void end_repair(const probe::ProbeResult& reading);
  void start_repairs();
  void poll_pending();

  bool commit();
  void enforce();
  void update_desired_keys();
  std::optional<telemetry::Telemetry::BindDurations> durations_of(
      const fabric::Attachment& attachment) const;
  void publish_changes();
  bool retry_postponed();
  void expire_postponed();
  void refuse_postponed(const PostponedBind& one, const Error& why);
  void drop_postponed(const fabric::Attachment& attachment);
  void answer_forgetting();

  Deps deps_;
  ControllerSettings settings_;
  registry::Now now_;
  verify::VersionHistory applied_, swept_;
  uint64_t engine_losses_ = 0;                      // resets of tables that the engine has reported
  uint64_t engine_rollbacks_ = 0;                   // times that it went back to an older version
  verify::VersionHistory::Time last_scan_began_{};  // of the last full scan
  fabric::Condition engine_fault_;  // why nothing can be applied; Reason::none: it can
  uint64_t published_version_ = 0;  // the version that the engine has
  std::shared_ptr<const std::vector<fabric::PartitionDefinition>> partitions_;
  std::vector<fabric::PartitionDefinition> manual_partitions_;
  std::vector<fabric::PartitionDefinition> resulting_partitions_;  // in_tables(*partitions_)
  verify::DesiredKeys desired_keys_;                               // of resulting_partitions_
  verify::DesiredKeys unmanaged_keys_;  // of the default and the manual partitions
  verify::PortObservations observations_;
  verify::RepairQueue repairs_;
  std::map<fabric::Attachment, verify::VersionHistory::Time>
      bind_requested_;  // pending Binds, by the time of the call
  std::set<ib::Guid> polled_;
  NamespaceHistory namespaces_;
  ChangeLimit change_limit_;
  std::vector<std::function<void(const Status&)>> on_commit_;
  PendingRequests pending_;
  Watches watches_;
  std::vector<PostponedBind> postponed_;
  std::vector<PendingForget> pending_forgets_;
  const verify::VersionHistory::Time started_;
  std::optional<declared::DeclaredPartitions> declared_;
  std::optional<verify::VersionHistory::Time>
      declare_at_;                        // when to apply or retry the declaration
  std::map<std::string, Error> refused_;  // declared partitions, with the logged error
  std::string unreadable_;                // why the declared file cannot be read; empty: it can
  uint64_t conflicts_freed_ = 0;          // at the last try
  std::set<ib::Guid> released_ports_;     // ports of removed bindings
  std::map<ib::Guid, verify::VersionHistory::Time>
      requested_guid_released_;  // by pod-requested GUID: when its last binding was removed
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
