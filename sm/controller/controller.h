// Steward: keeps true what has been promised. It takes requests into the ledger, has the engine
// enforce what is in it, judges what is seen of the ports' tables, has them mended, and tells who
// waits. For one thread (sm/service); nothing in here waits.
//
// Whatever has happened, turn() comes behind it: there all that was asked since the last one goes
// to disk together, and only then anybody is answered or told.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/declared/declared.h"
#include "sm/engine/subnet_manager.h"
#include "sm/registry/registry.h"
#include "sm/plan/explain.h"
#include "sm/health_checks/health_checks.h"
#include "sm/telemetry/telemetry.h"
#include "sm/controller/change_limit.h"
#include "sm/controller/repair_queue.h"
#include "sm/controller/namespace_history.h"
#include "sm/controller/version_history.h"
#include "sm/controller/port_observations.h"
#include "sm/controller/pending_requests.h"
#include "sm/controller/watches.h"
#include "sm/probe/port_prober.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm {

struct StewardSettings {
  std::string epoch;          // of this process, unlike any other's
  Duration patience{30'000};  // how long a Bind or an Unbind waits at most
  size_t most_waiting = 20'000;
  SmSettings sm = {};  // for health()
  // The subnet manager's, where it is known.
  std::optional<ib::Guid> own_port = {};
  // How long what a node says of a port counts, where the port cannot be asked.
  Duration node_lasts{180'000};
  // False: there is no file of declared partitions, and requests may change those that one has
  // left.
  bool declares = true;
  // Of one node's Binds.
  ChangeLimit::Settings changes = {};
};

class Steward {
 public:
  template <typename Value>
  using Done = fabricapi::Done<Value>;
  using Caller = fabricapi::Caller;

  // All of them outlive it.
  struct World {
    Ledger& ledger;
    Engine& engine;
    Tables& tables;
    Report& report;
    // What time it is, as at() says: for what is dated behind a look at the world.
    std::function<Placements::Time()> clock;
  };
  Steward(World world, StewardSettings settings, Now now);

  // What time it is, from here to the next call.
  void at(Now now) { now_ = now; }

  // As in fabricapi::Fabric.
  void create_partition(const Caller& caller, const fabric::Tenancy& tenancy,
                        Done<fabric::TenancyStatus> done);
  void update_partition(const Caller& caller, const fabric::Tenancy& tenancy,
                        Done<fabric::TenancyStatus> done);
  void delete_partition(const Caller& caller, const std::string& name,
                        Done<fabric::TenancyStatus> done);
  void forget_ports(const Caller& caller, const std::string& partition,
                    Done<fabric::TenancyStatus> done);
  void bind(const Caller& caller, const fabricapi::BindRequest& request,
            const fabricapi::Patience& patience, Done<fabric::Binding> done);
  void unbind(const Caller& caller, const fabric::Attachment& attachment, Deadline deadline,
              Done<fabric::Binding> done);
  void sync(const Caller& caller, const fabricapi::SyncRequest& request,
            Done<fabricapi::SyncAnswer> done);
  void observe(const Caller& caller, const fabricapi::ObserveRequest& request,
               Done<fabricapi::ObserveAnswer> done);
  void allocate_guids(const Caller& caller, const fabricapi::AllocateRequest& request,
                      Done<std::vector<fabricapi::Allocated>> done);
  void forget_node(const Caller& caller, const fabricapi::ForgetRequest& request, Deadline deadline,
                   Done<fabricapi::Node> done);
  void plan(const Caller& caller, const fabricapi::PlanRequest& request,
            Done<fabricapi::Plan> done);
  void explain(const Caller& caller, const fabricapi::ExplainRequest& request,
               Done<fabricapi::Explanation> done);
  void health(const Caller& caller, Done<fabricapi::FabricHealth> done);

  // Lookups. They show what is on disk.
  void list_partitions(const Caller& caller, const fabricapi::Page& page,
                       Done<fabricapi::Listed<fabric::TenancyStatus>> done);
  void get_binding(const Caller& caller, const fabric::Attachment& attachment,
                   Done<fabric::Binding> done);
  void list_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                     const fabricapi::Page& page, Done<fabricapi::Listed<fabric::Binding>> done);
  void watch_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                      Watches::Told told, Done<std::shared_ptr<fabricapi::Fabric::Watch>> done);
  void list_nodes(const Caller& caller, Done<std::vector<fabricapi::Node>> done);

  // The declared partitions, from their file. What cannot be done now is tried again when what is
  // in the way may have gone.
  void declare(const Declared& declared);
  // Nothing can be made of their file as it is now: what it said before stays.
  void declared_unreadable(const std::string& why);

  // What others have to say.
  void engine_changed();
  void seen(const Readings& readings);

  // What metrics tell of bindings, of the engine and of the subnet's weaknesses now.
  void show();

  // Ends what has been begun. And when there is something to do though nothing happens.
  void turn();
  std::optional<Placements::Time> due() const;

 private:
  // Whose eyes its own lookups have.
  static const Caller kItself;
  // Why a Bind is not granted whose caller has broken it off.
  static const Error kGone;

  // A Bind whose port another attachment is about to leave.
  struct Postponed {
    Caller caller;
    fabricapi::BindRequest request;
    fabricapi::Patience patience;
    Placements::Time until;
    Done<fabric::Binding> done;
    Error why = Error(Code::busy, "another attachment has the port");
  };
  // Who has asked that a node is forgotten.
  struct Forgetting {
    std::string node;
    Placements::Time until;
    Done<fabricapi::Node> done;
  };

  template <typename Value>
  void answer(Result<Value> result, Done<Value> done);
  // `look` runs when what was asked before is on disk.
  template <typename Value, typename Look>
  void look(Done<Value> done, Look look);
  void when_committed(std::function<void(const Status&)> answer);
  // In the log when it is on disk: a grant that could not be kept is none.
  void audit(const Caller& caller, std::string action, std::string subject, const Status& status,
             Report::Effect effect = Report::Effect::change);
  Report::Effect effect_since(uint64_t changes) const;
  void audit_bind(const Postponed& one, const Status& status, Report::Effect effect);
  void audit_namespace(const Postponed& one);
  void remember_namespaces();
  // Partitions as an administrator has them, by name; those that are being deleted are gone.
  using Administered = std::map<std::string, std::pair<fabric::Tenancy, bool>>;
  Administered administered() const;
  void audit_declared(const Administered& before);
  void audit_lapsed();
  Placements::Time until(Deadline deadline) const;
  Places places(ib::Guid port) const;
  bool leaves(const fabricapi::BindRequest& request) const;
  Result<fabric::Binding> bind_now(const Caller& caller, const fabricapi::BindRequest& request);
  void try_bind(Postponed postponed);
  void wait(const fabric::Binding& binding, Waiting::For what, Placements::Time until,
            Done<fabric::Binding> done);

  struct Known;
  Known known() const;
  fabric::WallTime wall_of(Placements::Time time) const;
  Evidence evidence(const Known& known) const { return evidence(known, all_, wanted_); }
  Evidence evidence(const Known& known, const std::vector<fabric::Partition>& partitions,
                    const Wanted& wanted) const;
  // All partitions of the subnet where these are ibpod-sm's own, as the tables come to hold them:
  // of those that are, and of those that a change would make.
  std::vector<fabric::Partition> in_tables(std::vector<fabric::Partition> own) const;
  Posture posture() const;
  Result<std::vector<fabric::Partition>> planned(const fabricapi::PlanRequest& request) const;
  Party party(const std::string& name) const;

  void leave_alone();
  Status check_engine(const Caller& caller, const fabricapi::PlanRequest& request) const;
  Status check_index0(const fabricapi::BindRequest& request) const;
  Status check_vacant(const fabricapi::BindRequest& request);
  Status check_rate(const Caller& caller, const fabricapi::BindRequest& request) const;
  Status check_unseen(const fabricapi::BindRequest& request) const;
  Status check_places(const fabricapi::ObserveRequest::Seen& seen) const;
  size_t most_told() const;
  void note_ended();
  bool is_nowhere(ib::Guid port) const;
  bool is_left(ib::Guid port) const;
  void take_hindrance(fabric::Standing now);
  bool declare_again();
  void declare_later();
  Status make_declared();
  void tell_refused(const std::vector<NotDeclared>& refused);
  std::string refusal_of(const std::string& name, const Error& error) const;
  std::string refusal_of_declared(const std::string& name) const;
  std::set<std::string> refused_names() const;
  void show_declared(fabricapi::Listed<fabric::TenancyStatus>& listed) const;
  Status hand_over_declared();
  void take_administrators();
  std::string wrong_subnet() const;
  void judge(ib::Guid port);
  void judge_scan(const Readings& readings);
  void judge_unseen();
  bool stands_unproved(ib::Guid port, const Finding& finding) const;
  bool shows_while_used(const fabric::Binding& binding) const;
  bool may_be_gone(ib::Guid port) const;
  void note_met();
  bool was_never_there(ib::Guid port) const;
  bool has_virtual_ports() const;
  bool is_silent(ib::Guid port) const;
  std::vector<Stuck> stuck() const;
  DeclaredFaults declared_faults() const;
  fabric::Standing why_unseen(ib::Guid port, const fabric::Standing& standing) const;
  bool awaits_sm(ib::Guid port, const ib::PKeyTable& table) const;
  bool may_mend() const;
  void plan_mend(ib::Guid port, const Finding& finding);
  void end_repair(const Reading& reading);
  void mend();
  void hurry();

  bool commit();
  void enforce();
  void want_anew();
  std::optional<Report::Course> course_of(const fabric::Attachment& attachment) const;
  void tell_changes();
  bool retry_postponed();
  void give_up_postponed();
  void refuse(const Postponed& one, const Error& why);
  void drop_postponed(const fabric::Attachment& attachment);
  void answer_forgetting();

  World world_;
  StewardSettings settings_;
  Now now_;
  Placements placed_, swept_;
  uint64_t losses_ = 0;         // of what was in force, that the engine has told of
  uint64_t falls_ = 0;          // times that it took a version back
  Placements::Time scanned_{};  // when the last look at all ports began
  fabric::Standing hindrance_;  // why nothing comes into force; Reason::none: it does
  uint64_t told_ = 0;           // the version that the engine has
  std::shared_ptr<const std::vector<fabric::Partition>> partitions_;
  std::vector<fabric::Partition> administrators_;
  std::vector<fabric::Partition> all_;  // in_tables(*partitions_)
  Wanted wanted_;                       // by them
  Wanted others_;                       // of those that are not the ledger's
  Sightings sightings_;
  Mending mending_;
  std::map<fabric::Attachment, Placements::Time> asked_;  // Binds that are not verified yet
  std::set<ib::Guid> hurried_;
  NamespaceHistory namespaces_;
  ChangeLimit changes_;
  std::vector<std::function<void(const Status&)>> answers_;
  Waiting waiting_;
  Watches watches_;
  std::vector<Postponed> postponed_;
  std::vector<Forgetting> forgetting_;
  const Placements::Time started_;
  std::optional<Declared> declared_;
  std::optional<Placements::Time> declare_at_;  // when it is to be done, or tried again
  std::map<std::string, Error> refused_;        // declared partitions, as people know of them
  std::string unreadable_;                      // why the declared file is; empty: it is not
  uint64_t freed_ = 0;                          // when they were tried last
  std::set<ib::Guid> left_;                     // ports that a binding has gone from
  std::map<ib::Guid, Placements::Time> ended_;  // when a binding of a chosen GUID went last
};

template <typename Value, typename Look>
void Steward::look(Done<Value> done, Look look) {
  when_committed([done = std::move(done), look = std::move(look)](const Status& committed) {
    if (committed)
      done(look());
    else
      done(committed.error());
  });
}

}  // namespace ibpod::sm
