// DeclaredReconciler: brings the registry's partitions in line with the declared file, and retries
// rejected ones when the conflict may be gone.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/bindings/registries.h"
#include "sm/diagnose/health_checks.h"
#include "sm/engine/subnet_manager.h"
#include "sm/partitions/declared_partitions.h"
#include "sm/telemetry/telemetry.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::controller {

class DeclaredReconciler {
 public:
  using Time = Deadline::Clock::time_point;

  // All of them outlive it.
  struct Deps {
    bindings::Registries& registry;
    const engine::SubnetManager& subnet_manager;
    telemetry::Telemetry& telemetry;
  };
  // `has_file` false: no file declares partitions; the first reconcile() then ends the declarations
  // of an earlier file, and requests can change those partitions.
  DeclaredReconciler(Deps deps, bool has_file, Time now);

  // The file was read; or it cannot be read or parsed, then the last declaration stays in force.
  void set(const partitions::DeclaredPartitions& declared, Time now);
  void set_unreadable(const std::string& why) { unreadable_ = why; }
  // The subnet manager may have rejected a declaration for a reason that is gone.
  void engine_changed(Time now);
  // A failed commit may have lost the declaration: it is applied again later.
  void commit_failed(Time now);

  // Called with "create partition" and the like for each change.
  using Audit = std::function<void(const std::string& action, const std::string& partition)>;
  // Applies the declaration if it is due or a conflict may be gone. Returns true if there may be
  // something to commit. Call it after the commit of requests, so that a failure does not affect
  // those.
  bool reconcile(state::Now now, const Audit& audit);
  // When reconcile() is due without an event; nothing: never.
  std::optional<Time> due() const { return due_; }

  // Sets the condition of partitions whose declaration was rejected, and adds those that do not
  // exist.
  void show(fabricapi::ListPage<fabric::PartitionStatus>& listed) const;
  diagnose::DeclaredFileFaults faults() const;

 private:
  // Spec and `declared` of each partition that is not being deleted, by name.
  using PartitionsByName = std::map<std::string, std::pair<fabric::Partition, bool>>;
  PartitionsByName partitions_by_name() const;
  Status apply(state::Now now, const Audit& audit);
  Status release();
  void audit_changes(const PartitionsByName& before, const Audit& audit) const;
  void log_rejected(const std::vector<partitions::DeclarationError>& rejected);
  std::string rejection(const std::string& name, const Error& error) const;
  std::string rejection_of(const std::string& name) const;
  std::set<std::string> rejected_names() const;

  Deps deps_;
  bool has_file_;
  std::optional<partitions::DeclaredPartitions> declared_;
  std::optional<Time> due_;
  std::map<std::string, Error> rejected_;  // the logged error of each partition
  std::string unreadable_;                 // why the file cannot be read; empty: no error
};

}  // namespace ibpod::sm::controller
