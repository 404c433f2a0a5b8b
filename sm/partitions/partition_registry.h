// PartitionRegistry: the partitions of the subnet, created by administrators or declared in a file,
// and their definitions for the subnet manager.
//
// Callers are authorized before they get here (sm/api/call_gate.h). A request either succeeds, or
// returns an Error and changes nothing: denied for a declared partition, invalid if it can never be
// granted, busy if a binding or another partition is in the way. Changes are durable after
// Journal::commit().
#pragma once

#include "lib/fabric/partition.h"
#include "lib/fabricapi/calls.h"
#include "sm/state/journal.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm::partitions {

using Definitions = std::vector<fabric::PartitionDefinition>;

struct DeclareOptions {
  // False: the list may lack some partitions, so none is removed.
  bool complete = true;
  // Called with the resulting definitions() before each change; an error rejects the change.
  // Empty: every change is accepted.
  std::function<Status(const Definitions&)> check = {};
};

// A declared partition that could not be created, updated or removed, and why.
struct DeclarationError {
  std::string name;
  Error error;
};

// A partition whose deletion waits only for ports.
struct DeletedPartition {
  std::string name;
  state::Steady since;
  std::vector<ib::Guid> ports;
};

class PartitionRegistry {
 public:
  // `journal` outlives it.
  explicit PartitionRegistry(state::Journal& journal) : journal_(journal) {}

  // Sets the P_Keys (15 bits) that the administrator's section uses: no partition gets one of them.
  void reserve_pkeys(std::set<uint16_t> pkeys) { reserved_pkeys_ = std::move(pkeys); }

  // exists if the name or the P_Key is in use; busy if that partition is being deleted, as tables
  // may still hold its key. A requested P_Key must be in a range with RangeUse::by_request.
  Result<fabric::PartitionStatus> create(const fabric::Partition& partition);
  // Changes everything but the P_Key. A narrower `allowed` or `membership` applies to new bindings;
  // existing ones stay. If `proof` becomes stricter, existing bindings must be verified again.
  Result<fabric::PartitionStatus> update(const fabric::Partition& partition, state::Now now);
  // busy while a binding uses it, or a released one may still have its key. The P_Key is free when
  // OpenSM has swept without the partition and no static member holds the key.
  Result<fabric::PartitionStatus> remove(const std::string& name);
  // As remove(), but does not wait for former static members unless `holds` says that they hold the
  // key. The caller is responsible for ports that cannot be read.
  using HoldsKey = std::function<bool(ib::Guid, ib::PKey)>;
  Result<fabric::PartitionStatus> forget_ports(const std::string& name, const HoldsKey& holds);
  // Makes these the declared partitions: creates, updates and removes them, and takes over those
  // that a request has created. Returns what failed; a failed partition keeps its earlier
  // declaration. A later call may succeed: see may_declare_again().
  Result<std::vector<DeclarationError>> declare(const std::vector<fabric::Partition>& partitions,
                                                state::Now now, const DeclareOptions& how = {});
  // True if something was removed or changed since the last declare() that may have been the reason
  // to reject a declaration.
  bool may_declare_again() const { return journal_.staged().conflict_freed(); }
  // Ends all declarations: requests can change those partitions from now on. Returns their names.
  Result<std::vector<std::string>> release_declared();

  // definitions() as they would be after create(), update() or remove() by an administrator, or the
  // error of that call. Changes nothing.
  Result<Definitions> after_create(const fabric::Partition& partition) const;
  Result<Definitions> after_update(const fabric::Partition& partition) const;
  Result<Definitions> after_remove(const std::string& name) const;

  // For the subnet manager: Policy::default_rule, then the partitions that are not being deleted,
  // by name. Valid after a successful commit(), and the same object until the journal's version()
  // changes.
  std::shared_ptr<const Definitions> definitions() const;

  // --- observations; they may stage changes

  // Records that a sweep that read this version has ended.
  void note_swept(uint64_t version);
  // Records which static members are, or may be, on the subnet: `met` returns true for those. Call
  // it after each scan and each change of members.
  void note_seen(const std::function<bool(ib::Guid)>& met);
  // Drops the port from partitions that it left before any scan had found it, if nothing of the
  // port has changed since `version`.
  void note_never_seen(ib::Guid guid, uint64_t version);
  // Sets the start of each deletion that has begun. Call it after each commit().
  void note_deleted(state::Now now);
  // Sets why new partitions cannot be applied; Reason::none if they can.
  void set_engine_fault(const fabric::Condition& status);

  // --- lookups; a node can read no partitions

  std::optional<fabric::PartitionStatus> find(const std::string& name) const;
  Result<fabricapi::ListPage<fabric::PartitionStatus>> list(
      const fabricapi::PageRequest& page) const;
  // Sorted by name.
  std::vector<DeletedPartition> deleted() const;

 private:
  using Record = state::PartitionRecord;

  const state::Records& records() const { return journal_.records(); }
  const state::Policy& policy() const { return journal_.policy(); }
  Status check_partition(const fabric::Partition& partition) const;
  Result<ib::PKey> pkey_for(const fabric::Partition& partition) const;
  Result<fabric::Partition> checked_create(const fabric::Partition& desired) const;
  Result<Record*> do_create(const fabric::Partition& desired);
  Result<fabric::Partition> checked_update(const Record& record,
                                           const fabric::Partition& desired) const;
  Status do_update(Record& record, const fabric::Partition& desired, state::Now now);
  Status begin_delete(Record& record);
  Status declare_one(const fabric::Partition& partition, const DeclareOptions& how, state::Now now);
  Status check_possible(const Record* record, const fabric::Partition& desired,
                        const DeclareOptions& how) const;
  std::vector<DeclarationError> undeclare(const std::vector<fabric::Partition>& partitions);
  void partition_changed(Record& record);
  void touch_members(const Record& record);
  void refresh_members(Record& record, const std::vector<fabric::StaticMember>& former);
  void require_proof(Record& record, state::Now now);
  fabric::PartitionStatus status(const Record& record) const;
  Definitions definitions_with(const fabric::PartitionDefinition& definition) const;

  state::Journal& journal_;
  std::set<uint16_t> reserved_pkeys_;
  mutable std::shared_ptr<const Definitions> definitions_;
  mutable uint64_t definitions_version_ = 0;
};

}  // namespace ibpod::sm::partitions
