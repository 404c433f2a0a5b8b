// Controller: the reconcile loop. It applies calls and events to the registries, has the
// FabricReconciler make the subnet agree with them, and answers waiting callers. For one thread
// (ControllerThread); nothing in here blocks.
//
// Call tick() after every event: it writes all changes since the last tick in one commit, and only
// then answers callers and notifies watchers.
#pragma once

#include "sm/bindings/registries.h"
#include "sm/controller/binding_calls.h"
#include "sm/controller/commit_queue.h"
#include "sm/controller/declared_reconciler.h"
#include "sm/controller/diagnostics.h"
#include "sm/controller/fabric_calls.h"
#include "sm/controller/fabric_reconciler.h"
#include "sm/controller/pending_forgets.h"
#include "sm/controller/watches.h"
#include "sm/partitions/declared_partitions.h"
#include "sm/probe/port_prober.h"

#include <optional>
#include <string>

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
  using Time = Deadline::Clock::time_point;

  using Deps = FabricReconciler::Deps;
  Controller(Deps deps, ControllerSettings settings, state::Now now);

  // Sets the clock until the next call.
  void set_time(state::Now now) { now_ = now; }

  // The calls of clients. Call them between set_time() and tick().
  FabricCalls& calls() { return calls_; }

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
  void notify_changes();

  Deps deps_;
  state::Now now_;
  FabricReconciler fabric_;
  DeclaredReconciler declared_;
  Diagnostics diagnostics_;
  CommitQueue commits_;
  BindingCalls binding_calls_;
  PendingForgets pending_forgets_;
  Watches watches_;
  FabricCalls calls_;
};

}  // namespace ibpod::sm::controller
