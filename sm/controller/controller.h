// Steward: keeps true what has been promised. It takes requests into the ledger, has the engine
// enforce what is in it, judges what is seen of the ports' tables, has them mended, and tells who
// waits. For one thread (sm/service); nothing in here waits.
//
// Whatever has happened, turn() comes behind it: there all that was asked since the last one goes
// to disk together, and only then anybody is answered or told.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/controller/change_limit.h"
#include "sm/controller/namespace_history.h"
#include "sm/controller/pending_requests.h"
#include "sm/controller/port_observations.h"
#include "sm/controller/repair_queue.h"
#include "sm/controller/version_history.h"
#include "sm/controller/watches.h"
#include "sm/declared/declared.h"
#include "sm/engine/subnet_manager.h"
#include "sm/health_checks/health_checks.h"
#include "sm/plan/explain.h"
#include "sm/probe/port_prober.h"
#include "sm/registry/registry.h"
#include "sm/telemetry/telemetry.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm::controller {

struct ControllerSettings {
  std::string epoch;              // of this process, unlike any other's
  Duration call_timeout{30'000};  // how long a Bind or an Unbind waits at most
  size_t max_pending = 20'000;
  health_checks::SmSettings sm = {};  // for health()
  // The subnet manager's, where it is known.
  std::optional<ib::Guid> own_port = {};
  // How long what a node says of a port counts, where the port cannot be asked.
  Duration node_report_lifetime{180'000};
  // False: there is no file of declared partitions, and requests may change those that one has
  // left.
  bool has_declared_file = true;
  // Of one node's Binds.
  ChangeLimit::Settings changes = {};
};

class Controller {
 public:
  template <typename Value>
  using Done = fabricapi::Done<Value>;
  using Caller = fabricapi::Caller;

  // All of them outlive it.
  struct Deps {
    registry::Registry& registry;
    engine::SubnetManager& subnet_manager;
    probe::PortProber& prober;
    telemetry::Telemetry& telemetry;
    // What time it is, as at() says: for what is dated behind a look at the world.
    std::function<VersionHistory::Time()> clock;
  };
  Controller(Deps world, ControllerSettings settings, registry::Now now);

  // What time it is, from here to the next call.
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

  // Lookups. They show what is on disk.
  void list_partitions(const Caller& caller, const fabricapi::PageRequest& page,
                       Done<fabricapi::ListPage<fabric::PartitionStatus>> done);
  void get_binding(const Caller& caller, const fabric::Attachment& attachment,
                   Done<fabric::Binding> done);
  void list_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                     const fabricapi::PageRequest& page,
                     Done<fabricapi::ListPage<fabric::Binding>> done);
  void watch_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                      Watches::Callback engine_members,
                      Done<std::shared_ptr<fabricapi::Fabric::Watch>> done);
  void list_nodes(const Caller& caller, Done<std::vector<fabricapi::Node>> done);

  // The declared partitions, from their file. What cannot be done now is tried again when what is
  // in the way may have gone.
  void declare(const declared::DeclaredPartitions& declared);
  // Nothing can be made of their file as it is now: what it said before stays.
  void declared_unreadable(const std::string& why);

  // What others have to say.
  void engine_changed();
  void probed(const probe::ProbeBatch& readings);

  // What metrics tell of bindings, of the engine and of the subnet's weaknesses now.
  void update_metrics();

  // Ends what has been begun. And when there is something to do though nothing happens.
  void tick();
  std::optional<VersionHistory::Time> due() const;

 private:
  // Whose eyes its own lookups have.
  static const Caller kController;
  // Why a Bind is not granted whose caller has broken it off.
  static const Error kCancelled;

  // A Bind whose port another attachment is about to leave.
  struct PostponedBind {
    Caller caller;
    fabricapi::BindRequest request;
    fabricapi::CallContext context;
    VersionHistory::Time until;
    Done<fabric::Binding> done;
    Error why = Error(Code::busy, "another attachment uses the port");
  };
  // Who has asked that a node is forgotten.
  struct PendingForget {
    std::string node;
    VersionHistory::Time until;
    Done<fabricapi::Node> done;
  };

  template <typename Value>
  void answer(Result<Value> result, Done<Value> done);
  // `look` runs when what was asked before is on disk.
  template <typename Value, typename Look>
  void answer_committed(Done<Value> done, Look look);
  void when_committed(std::function<void(const Status&)> answer);
  // In the log when it is on disk: a grant that could not be kept is none.
  void audit(const Caller& caller, std::string action, std::string subject, const Status& status,
             telemetry::Telemetry::Effect effect = telemetry::Telemetry::Effect::change);
  telemetry::Telemetry::Effect effect_since(uint64_t changes) const;
  void audit_bind(const PostponedBind& one, const Status& status,
                  telemetry::Telemetry::Effect effect);
  void audit_namespace(const PostponedBind& one);
  void remember_namespaces();
  // Partitions as an administrator has them, by name; those that are being deleted are gone.
  using PartitionsByName = std::map<std::string, std::pair<fabric::Partition, bool>>;
  PartitionsByName partitions_by_name() const;
  void audit_declared(const PartitionsByName& before);
  void audit_expired();
  VersionHistory::Time until(Deadline deadline) const;
  registry::TableCapacity table_capacity(ib::Guid port) const;
  bool blocked_by_departing(const fabricapi::BindRequest& request) const;
  Result<fabric::Binding> bind_now(const Caller& caller, const fabricapi::BindRequest& request);
  void try_bind(PostponedBind postponed);
  void wait(const fabric::Binding& binding, PendingRequests::WaitFor what,
            VersionHistory::Time until, Done<fabric::Binding> done);

  struct SnapshotTables;
  SnapshotTables snapshot_tables() const;
  fabric::WallTime wall_of(VersionHistory::Time time) const;
  tables::FabricSnapshot snapshot(const SnapshotTables& known) const {
    return snapshot(known, resulting_partitions_, desired_keys_);
  }
  tables::FabricSnapshot snapshot(const SnapshotTables& known,
                                  const std::vector<fabric::PartitionDefinition>& definitions,
                                  const tables::DesiredKeys& desired) const;
  // All partitions of the subnet where these are ibpod-sm's own, as the tables come to hold them:
  // of those that are, and of those that a change would make.
  std::vector<fabric::PartitionDefinition> resulting_partitions(
      std::vector<fabric::PartitionDefinition> own) const;
  health_checks::HealthChecks health_checks() const;
  Result<std::vector<fabric::PartitionDefinition>> planned(
      const fabricapi::PlanRequest& request) const;
  plan::Subject subject_of(const std::string& name) const;

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
  bool counts_without_proof(ib::Guid port, const PortVerdict& finding) const;
  bool is_visible_while_bound(const fabric::Binding& binding) const;
  bool may_be_released(ib::Guid port) const;
  void note_seen_ports();
  bool was_never_seen(ib::Guid port) const;
  bool has_virtual_ports() const;
  bool is_silent(ib::Guid port) const;
  std::vector<health_checks::StuckDeletion> stuck_deletions() const;
  health_checks::DeclaredFileFaults declared_file_faults() const;
  fabric::Condition why_unseen(ib::Guid port, const fabric::Condition& status) const;
  bool awaits_sm(ib::Guid port, const ib::PKeyTable& table) const;
  bool may_repair() const;
  void plan_repair(ib::Guid port, const PortVerdict& finding);
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
  VersionHistory applied_, swept_;
  uint64_t engine_losses_ = 0;              // of what was in force, that the engine has told of
  uint64_t engine_rollbacks_ = 0;           // times that it took a version back
  VersionHistory::Time last_scan_began_{};  // when the last look at all ports began
  fabric::Condition engine_fault_;          // why nothing comes into force; Reason::none: it does
  uint64_t published_version_ = 0;          // the version that the engine has
  std::shared_ptr<const std::vector<fabric::PartitionDefinition>> partitions_;
  std::vector<fabric::PartitionDefinition> manual_partitions_;
  std::vector<fabric::PartitionDefinition> resulting_partitions_;  // in_tables(*partitions_)
  tables::DesiredKeys desired_keys_;                               // by them
  tables::DesiredKeys unmanaged_keys_;  // of those that are not the ledger's
  PortObservations observations_;
  RepairQueue repairs_;
  std::map<fabric::Attachment, VersionHistory::Time>
      bind_requested_;  // Binds that are not verified yet
  std::set<ib::Guid> polled_;
  NamespaceHistory namespaces_;
  ChangeLimit change_limit_;
  std::vector<std::function<void(const Status&)>> on_commit_;
  PendingRequests pending_;
  Watches watches_;
  std::vector<PostponedBind> postponed_;
  std::vector<PendingForget> pending_forgets_;
  const VersionHistory::Time started_;
  std::optional<declared::DeclaredPartitions> declared_;
  std::optional<VersionHistory::Time> declare_at_;  // when it is to be done, or tried again
  std::map<std::string, Error> refused_;            // declared partitions, as people know of them
  std::string unreadable_;                          // why the declared file is; empty: it is not
  uint64_t conflicts_freed_ = 0;                    // when they were tried last
  std::set<ib::Guid> released_ports_;               // ports that a binding has gone from
  std::map<ib::Guid, VersionHistory::Time>
      requested_guid_released_;  // when a binding of a chosen GUID went last
};

template <typename Value, typename Look>
void Controller::answer_committed(Done<Value> done, Look look) {
  when_committed([done = std::move(done), look = std::move(look)](const Status& committed) {
    if (committed)
      done(look());
    else
      done(committed.error());
  });
}

}  // namespace ibpod::sm::controller
