// Registry: the desired state of ibpod-sm: partitions, bindings, nodes and their GUIDs. It is in
// memory, with a Store as its journal.
//
// For one thread. It has no clock and reads no fabric: the time and the observations are arguments.
// The controller applies any number of requests, calls commit() once for all of them, and only then
// answers them and passes partitions() to the subnet manager. Before that, nothing that a lookup
// shows is guaranteed.
//
// A request either succeeds, or returns an Error and changes nothing: denied if the caller lacks
// the permission, invalid if it can never be granted, busy if another binding or a full table is in
// the way. After a failed commit() every request is unavailable until the store can be read again.
#pragma once

#include "lib/fabric/partition.h"
#include "lib/fabricapi/fabric.h"
#include "sm/registry/boot_id_tracker.h"
#include "sm/registry/policy.h"
#include "sm/store/store.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm::registry {

class State;
struct BindingRecord;
struct NodeRecord;
struct PartitionRecord;

// `steady` drives leases; `wall` is for display.
struct Now {
  std::chrono::steady_clock::time_point steady{};
  fabric::WallTime wall{};
};

// Sizes of P_Key tables, in entries: of the port, and of the connected switch port if that enforces
// partitions. 0: not known and not checked.
struct TableCapacity {
  size_t of_port = 0;
  size_t of_switch_port = 0;
  // Entries that the default partition and the administrator's section take.
  size_t taken = 1;
};

// The keys of a port without those of the default partition and the administrator's section.
struct ExpectedTable {
  std::vector<ib::PKey> keys;             // all 16 bits, sorted
  std::vector<ib::PKey> pending_removal;  // to be removed before bindings are released
  std::optional<ib::PKey> index0;         // the one of `keys` at index 0
  uint64_t changed_in = 0;
};

struct DeclareOptions {
  // False: the list may lack some partitions, so none is removed.
  bool complete = true;
  // Called with the resulting partitions() before each change; an error rejects the change.
  // Empty: every change is accepted.
  std::function<Status(const std::vector<fabric::PartitionDefinition>&)> check = {};
};

// A declared partition that could not be created, updated or removed, and why.
struct DeclarationError {
  std::string name;
  Error error;
};

// The owner of a port, from the point of view of one node.
enum class PortOwner { this_node, other_node, unassigned };

class Registry {
 public:
  using Caller = fabricapi::Caller;

  // Reads the store. Each binding comes back as `requested` or `releasing`, with a new lease, and
  // must be verified again. invalid if a value cannot be parsed or contradicts another one, if the
  // P_Key of a partition is in no range, or if the policy no longer allows a membership.
  static Result<std::unique_ptr<Registry>> load(store::Store& store, Policy policy, Now now);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // --- partitions, for administrators

  // Sets the P_Keys (15 bits) that the administrator's section uses: no partition gets one of them.
  // `bytes`: the size of that section in partitions.conf.
  void reserve_pkeys(std::set<uint16_t> pkeys, size_t bytes = 0) {
    reserved_pkeys_ = std::move(pkeys);
    reserved_bytes_ = bytes;
  }

  // exists if the name or the P_Key is in use; busy if that partition is being deleted, as tables
  // may still hold its key. A requested P_Key must be in a range with RangeUse::by_request.
  Result<fabric::PartitionStatus> create(const Caller& caller, const fabric::Partition& partition);
  // Changes everything but the P_Key. A narrower `allowed` or `membership` applies to new bindings;
  // existing ones stay. If `proof` becomes stricter, existing bindings must be verified again.
  Result<fabric::PartitionStatus> update(const Caller& caller, const fabric::Partition& partition,
                                         Now now);
  // busy while a binding uses it, or a released one may still have its key. The P_Key is free when
  // OpenSM has swept without the partition and no static member holds the key.
  Result<fabric::PartitionStatus> remove(const Caller& caller, const std::string& name);
  // As remove(), but does not wait for former static members unless `holds` says that they hold the
  // key. The caller is responsible for ports that cannot be read.
  using HoldsKey = std::function<bool(ib::Guid, ib::PKey)>;
  Result<fabric::PartitionStatus> forget_ports(const Caller& caller, const std::string& name,
                                               const HoldsKey& holds);
  // Makes these the declared partitions: creates, updates and removes them, and takes over those
  // that a request has created. Returns what failed; a failed partition keeps its earlier
  // declaration. A later call may succeed: see conflicts_freed().
  Result<std::vector<DeclarationError>> declare(const std::vector<fabric::Partition>& partitions,
                                                Now now, const DeclareOptions& how = {});
  // Ends all declarations: requests can change those partitions from now on. Returns their names.
  Result<std::vector<std::string>> release_declared();
  // Grows when something is removed or changed that may have been the reason to reject a
  // declaration.
  uint64_t conflicts_freed() const { return conflicts_freed_; }

  // partitions() as it would be after create(), update() or remove() by an administrator, or the
  // error of that call. Changes nothing.
  Result<std::vector<fabric::PartitionDefinition>> after_create(
      const fabric::Partition& partition) const;
  Result<std::vector<fabric::PartitionDefinition>> after_update(
      const fabric::Partition& partition) const;
  Result<std::vector<fabric::PartitionDefinition>> after_remove(const std::string& name) const;

  // --- bindings

  // Replaces requested P_Keys by partition names, and checks that the pod may use those partitions
  // and the requested GUID. A missing and a forbidden partition give the same denied error, which
  // reveals nothing beyond the request; errors of later checks may name partitions and owners.
  Result<fabricapi::BindRequest> resolve(const Caller& caller,
                                         fabricapi::BindRequest request) const;

  // Creates the binding of an attachment, or renews the lease of the existing one. Other partitions
  // change it: lost keys must leave the table before new ones come. `request` is a result of
  // resolve(). exists if the binding has another port, kind, device or pod; unavailable while the
  // node is being forgotten. busy while the previous binding is releasing, if another attachment
  // has the VF, if memberships of the port conflict, if a table is full or a limit is reached.
  Result<fabric::Binding> bind(const Caller& caller, const fabricapi::BindRequest& request,
                               const TableCapacity& places, Now now);
  // Returns the binding as `releasing`, or as `released` if there is none.
  Result<fabric::Binding> unbind(const Caller& caller, const fabric::Attachment& attachment,
                                 Now now);

  // --- nodes

  // Renews the leases of the attachments that the request names. Others are released when their
  // lease ends; those that are `unknown` because it has ended, at once. denied for a second machine
  // with the node's name. While the machine may be the known one after a reboot, attachments that
  // it does not name stay, and are not reported.
  Result<fabricapi::SyncAnswer> sync(const Caller& caller, const fabricapi::SyncRequest& request,
                                     Now now);
  // Assigns a GUID to each VF, or to none. A VF keeps its GUID until the node is forgotten.
  Result<std::vector<fabricapi::AllocatedGuid>> allocate(const Caller& caller,
                                                         const fabricapi::AllocateRequest& request);
  // Records a call of the node's agent. Does nothing if the node is not known.
  void note_contact(const std::string& node, Now now);
  // Releases the node's bindings; when the last one is released, its GUIDs are free and the node is
  // gone. Unless forced, busy if the node has bindings or GUIDs and may be alive: there was a call
  // within a lease, or none yet and the registry was loaded within a lease.
  Result<fabricapi::Node> forget(const Caller& caller, const fabricapi::ForgetRequest& request,
                                 Now now);
  // Names of nodes that two machines use: both have called recently.
  std::vector<std::string> duplicate_nodes(Now now) const;
  // Handles all leases that have ended.
  Status expire(Now now);
  // Attachments released by the end of their lease since the last call.
  std::vector<fabric::Attachment> take_expired();
  // Pod-requested GUIDs whose bindings have been removed since the last call.
  std::vector<ib::Guid> take_ended();
  // The end of the earliest lease; nothing: no lease runs.
  std::optional<std::chrono::steady_clock::time_point> next_expiry() const;

  // --- observations. They may stage changes: call commit() after them, too.

  // Records that sweeps read this version from now on. Call it after each commit(): a new binding
  // may need nothing that is not in it already.
  void note_written(uint64_t version, Now now);
  // Records that a sweep that read this version has ended.
  void note_swept(uint64_t version);
  // Records that the port's table matches `version` (or, with Proof::none, that the port is
  // absent). Returns false and does nothing if the port's keys have changed since.
  bool note_verified(ib::Guid guid, uint64_t version, fabric::Proof proof,
                     fabric::Enforcement enforcement, Now now);
  // True if every partition of the port has `proof: none`: if the port is absent, that is enough.
  bool needs_no_proof(ib::Guid guid) const;
  // Records that the port holds no key of ExpectedTable::pending_removal. Return as
  // note_verified(). Also for a port that will never have a table again, if the caller knows that.
  bool note_clean(ib::Guid guid, uint64_t version, fabric::Proof proof, Now now);
  // Records which static members are, or may be, on the subnet: `met` is called for each. Call it
  // after each scan and each change of members.
  void note_seen(const std::function<bool(ib::Guid)>& met);
  // Drops the port from partitions that it left before any scan had found it, if nothing of the
  // port has changed since `version`.
  void note_never_seen(ib::Guid guid, uint64_t version);
  // Sets the start of each deletion that has begun. Call it after each commit().
  void note_deleted(Now now);
  // Sets why the bindings of a port are not verified. A verified one becomes `unknown` if the port
  // cannot be read (unreachable, timeout, port_down, port_unknown, vport, duplicate), `written` if
  // its table is wrong (refused, foreign_key, missing_key), and stays for all other reasons.
  void set_condition(ib::Guid guid, const fabric::Condition& status, Now now);
  // All verified bindings become `written`: they must be verified again.
  void invalidate_verified(const fabric::Condition& status, Now now);
  // Sets why new partitions cannot be applied; Reason::none: they can.
  void set_engine_fault(const fabric::Condition& status);

  // --- for the subnet manager and the port prober

  // Policy::default_rule, then the partitions that are not being deleted, by name. Valid after a
  // successful commit(), and the same object until version() changes.
  std::shared_ptr<const std::vector<fabric::PartitionDefinition>> partitions() const;
  // Grows when partitions() changes.
  uint64_t version() const { return version_; }
  // The version in which the keys of the port last changed; 0: it has none.
  uint64_t changed_in(ib::Guid guid) const;
  ExpectedTable expected(ib::Guid guid) const;
  // Ports with a key that must still be added or removed.
  const std::set<ib::Guid>& unsettled() const;

  // Grows with each staged change: if it has not grown, nothing that is stored has changed.
  uint64_t changes() const { return staged_changes_; }
  // True if commit() has something to write.
  bool staged() const { return !staged_.empty(); }
  // Writes all staged changes. If that fails, none of them holds: the state is what the store has,
  // which is read again.
  Status commit(Now now);

  // --- lookups. A node can read only its own bindings, and no partitions.

  Result<fabric::Binding> binding(const Caller& caller, const fabric::Attachment& attachment) const;
  Result<fabricapi::ListPage<fabric::Binding>> bindings(const Caller& caller,
                                                        const fabricapi::BindingFilter& filter,
                                                        const fabricapi::PageRequest& page) const;
  std::vector<fabric::Binding> bindings_of(ib::Guid guid) const;
  // The same bindings; valid until the registry changes.
  std::vector<const fabric::Binding*> bindings_on(ib::Guid guid) const;
  // The port of each of the node's bindings.
  std::vector<ib::Guid> ports_of(const std::string& node) const;
  // The first requested partition that allows the pod's namespace, but not its node; empty: none.
  std::string denied_to_node(const fabricapi::BindRequest& request) const;
  const RegistryLimits& limits() const { return policy_.limits; }
  // this_node: the port is bound by, assigned to or configured for the node.
  PortOwner owner_of(ib::Guid guid, const std::string& node) const;
  std::optional<fabric::PartitionStatus> partition(const std::string& name) const;
  // True if the partition exists and takes index 0.
  bool uses_index0(const std::string& name) const;
  Result<fabricapi::ListPage<fabric::PartitionStatus>> partitions(
      const Caller& caller, const fabricapi::PageRequest& page) const;
  // Partitions whose deletion waits only for ports, by name.
  struct DeletedPartition {
    std::string name;
    std::chrono::steady_clock::time_point since;
    std::vector<ib::Guid> ports;
  };
  std::vector<DeletedPartition> deleted_partitions() const;
  std::vector<fabricapi::Node> nodes() const;
  std::optional<fabricapi::Node> node(const std::string& name) const;
  std::vector<const fabric::Binding*> releasing() const;
  size_t size() const;  // bindings
  using Counts = std::map<std::pair<fabric::BindingState, fabric::Reason>, size_t>;
  Counts counts() const;

  // Bindings that have changed since the last call: each attachment once, in its present state.
  // Empty while the store cannot be read.
  std::vector<fabricapi::BindingChange> take_changes();

 private:
  enum class Source { exact, clean };
  struct Observed;

  Registry(store::Store& store, Policy policy);
  Status check_readable() const;
  void adopt_state(Now now);
  Status reload(Now now);
  void adopt(const State& before);
  static void adopt(PartitionRecord& record, const PartitionRecord& before);
  void adopt(BindingRecord& entry, const BindingRecord& before);

  // partitions
  Status check_partition(const fabric::Partition& partition) const;
  Result<ib::PKey> pkey_for(const fabric::Partition& partition) const;
  Result<fabric::Partition> checked_create(const fabric::Partition& desired) const;
  Result<PartitionRecord*> do_create(const fabric::Partition& desired);
  Result<fabric::Partition> checked_update(const PartitionRecord& record,
                                           const fabric::Partition& desired) const;
  Status do_update(PartitionRecord& record, const fabric::Partition& desired, Now now);
  static Status check_unused(const PartitionRecord& record);
  Status begin_delete(PartitionRecord& record);
  Status declare_one(const fabric::Partition& partition, const DeclareOptions& how, Now now);
  Status check_possible(const PartitionRecord* record, const fabric::Partition& desired,
                        const DeclareOptions& how) const;
  Status check_administered(const PartitionRecord* record, const std::string& name) const;
  std::vector<DeclarationError> undeclare(const std::vector<fabric::Partition>& partitions);
  Status check_index0_of_bindings(const PartitionRecord& record) const;
  void partition_changed(PartitionRecord& record);
  void touch_members(const PartitionRecord& record);
  void refresh_members(PartitionRecord& record, const std::vector<fabric::StaticMember>& former);
  void require_proof(PartitionRecord& record, Now now);
  void finish(PartitionRecord& record);
  fabric::Condition members_condition(const PartitionRecord& record) const;
  fabric::PartitionStatus status(const PartitionRecord& record) const;
  fabric::PartitionDefinition rendered(const PartitionRecord& record) const;
  fabric::PartitionDefinition engine_members(const fabric::Partition& partition) const;
  fabric::PartitionDefinition engine_members_after(const PartitionRecord* record,
                                                   const fabric::Partition& partition) const;
  std::vector<fabric::PartitionDefinition> partitions_with(
      const fabric::PartitionDefinition& definition) const;

  // bindings
  Result<fabric::Binding> bind_checked(const Caller& caller, const fabricapi::BindRequest& request,
                                       const TableCapacity& places, Now now);
  Result<std::vector<fabric::PartitionMembership>> requested_memberships(
      const Caller& caller, const fabricapi::BindRequest& request,
      const BindingRecord* present) const;
  Status check_use(const Caller& caller, const fabricapi::BindRequest& request,
                   const BindingRecord* present) const;
  Status check_port(const Caller& caller, const fabricapi::BindRequest& request,
                    const std::vector<fabric::PartitionMembership>& memberships,
                    const BindingRecord* present) const;
  Status check_capacity(ib::Guid guid, const std::vector<fabric::PartitionMembership>& memberships,
                        const BindingRecord* present, const TableCapacity& places) const;
  Status check_room(const std::string& node) const;
  Status check_size(const fabricapi::BindRequest& request,
                    const std::vector<fabric::PartitionMembership>& memberships,
                    const BindingRecord* present) const;
  fabric::Binding bind_new(const Caller& caller, const fabricapi::BindRequest& request,
                           std::vector<fabric::PartitionMembership> memberships, Now now);
  fabric::Binding rebind(BindingRecord& entry, std::vector<fabric::PartitionMembership> memberships,
                         Now now);
  void release(BindingRecord& entry, fabric::Condition why, Now now);
  void expire_binding(BindingRecord& entry, fabric::Condition why, Now now);
  void finish(BindingRecord& entry, Now now);

  // nodes
  Status check_known_node(const std::string& node) const;
  // For a Sync: if attachments that it does not name end, and when the agent must call again.
  struct BootIdResult {
    bool ends_missing = true;
    std::optional<std::chrono::steady_clock::duration> ask_again = {};
  };
  Result<BootIdResult> note_boot_id(const fabricapi::SyncRequest& request, Now now);
  BootIdTracker::Limits boot_id_limits() const;
  Status check_silent(const std::string& name, const NodeRecord& node, Now now) const;
  Result<std::vector<fabricapi::AllocatedGuid>> assign_guid(
      const fabricapi::AllocateRequest& request);
  Result<ib::Guid> next_guid(const std::set<ib::Guid>& fresh) const;
  void finish_forgetting(const std::string& node);
  void renew(BindingRecord& entry, Now now);

  // observations
  bool note_observed(const Observed& seen);
  void note_binding(BindingRecord& entry, const Observed& seen);
  void note_leaving(const Observed& seen);
  // The first partition of the binding that requires more than `proof`; nothing if none does.
  std::optional<std::string> find_unproved(const BindingRecord& entry, fabric::Proof proof) const;
  void finish_if_gone(PartitionRecord& record);
  void has_left(ib::Guid guid, PartitionRecord& record);

  void refresh(ib::Guid guid);
  void set_state(BindingRecord& entry, fabric::BindingState state, fabric::Condition status,
                 Now now);
  void changed(const BindingRecord& entry);
  void note_removed(const fabric::Binding& binding);
  void stage(store::RecordKind kind, std::string key);
  void stage(const BindingRecord& entry);
  void stage(const PartitionRecord& record);
  std::optional<std::string> value_of(store::RecordKind kind, const std::string& key) const;

  store::Store& store_;
  Policy policy_;
  std::unique_ptr<State> state_;
  uint64_t version_ = 1;
  uint64_t conflicts_freed_ = 0;
  bool state_readable_ = true;
  std::chrono::steady_clock::time_point loaded_{};
  std::set<uint16_t> reserved_pkeys_;
  size_t reserved_bytes_ = 0;
  // The keys of records that commit() writes or removes.
  std::set<std::pair<store::RecordKind, std::string>> staged_;
  uint64_t staged_changes_ = 0;
  std::map<fabric::Attachment, std::optional<fabric::Binding>> changes_;  // value: removed
  std::vector<fabric::Attachment> expired_;
  std::vector<ib::Guid> ended_;
  mutable std::shared_ptr<const std::vector<fabric::PartitionDefinition>> partitions_;
  mutable uint64_t partitions_version_ = 0;
};

}  // namespace ibpod::sm::registry
