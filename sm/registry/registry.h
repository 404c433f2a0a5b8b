// Ledger: what ibpod-sm has promised to whom: partitions, bindings, nodes and their GUIDs. In
// memory, with a Store as its journal.
//
// For one thread. It has no clock: what time it is, it is told, and so it is what has been found
// out about the subnet. Whoever drives it lets any number of requests change it, calls commit()
// once for all of them, and only then answers them and gives partitions() to the subnet manager:
// what a lookup shows before that is not promised yet.
//
// Every request is either done, or an Error and nothing is changed: denied where the caller may
// not, invalid where it can never be granted, busy where somebody else's binding or a full table is
// in the way. Every one is unavailable after a failed commit() until the store can be read again.
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

// Leases run on the first clock; the second one is for people.
struct Now {
  std::chrono::steady_clock::time_point steady{};
  fabric::WallTime wall{};
};

// How many P_Keys fit: into the port's own table, and into that of the switch port that it is
// connected to, where that enforces. 0: not known, and not checked.
struct TableCapacity {
  size_t of_port = 0;
  size_t of_switch_port = 0;
  // Of them taken by what is not the ledger's: the default partition, the administrator's section.
  size_t taken = 1;
};

// What a port's table is to hold besides the default partition and the administrator's section.
struct ExpectedTable {
  std::vector<ib::PKey> keys;             // all 16 bits, sorted
  std::vector<ib::PKey> pending_removal;  // what has to go before bindings are released; sorted
  std::optional<ib::PKey> index0;         // which of `keys` takes index 0
  uint64_t changed_in = 0;
};

// How a file of declared partitions is to be taken.
struct DeclareOptions {
  // False: there may be more of them than are named. None is removed.
  bool complete = true;
  // Whether partitions() could be this, asked before any of them becomes other than it is. Empty:
  // always.
  std::function<Status(const std::vector<fabric::PartitionDefinition>&)> check = {};
};

// Of a file of declared partitions: what could not be made so, and why.
struct DeclarationError {
  std::string name;
  Error error;
};

// Whose a port is, as a node sees it.
enum class PortOwner { this_node, other_node, unassigned };

class Registry {
 public:
  using Caller = fabricapi::Caller;

  // Reads the store. What was verified before has to be seen again: each binding comes back as
  // `requested`, or `releasing`, with a whole lease. invalid where a value cannot be read or does
  // not fit the others, where a live partition's P_Key lies outside all ranges, or where one has a
  // membership that the policy does not allow any more.
  static Result<std::unique_ptr<Registry>> load(store::Store& store, Policy policy, Now now);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // --- partitions, for administrators

  // P_Keys (15 bits) that others on the subnet use, whom the ledger knows nothing of: no partition
  // is made with one. `bytes`: what they take of partitions.conf.
  void reserve_pkeys(std::set<uint16_t> pkeys, size_t bytes = 0) {
    reserved_pkeys_ = std::move(pkeys);
    reserved_bytes_ = bytes;
  }

  // exists where there is one of that name or P_Key; busy where that is being deleted, as its key
  // may be in somebody's table still. A P_Key that is given has to lie in a range by request.
  Result<fabric::PartitionStatus> create(const Caller& caller, const fabric::Partition& partition);
  // Everything but the P_Key. What is less now (`allowed`, `membership`) counts for bindings to
  // come: those that there are stay. Where `proof` is more, they have to be seen again.
  Result<fabric::PartitionStatus> update(const Caller& caller, const fabric::Partition& partition,
                                         Now now);
  // busy while a binding is in it, or has been and may have its key in the table. Its P_Key is
  // free when OpenSM has swept without it and its static members have been seen without it.
  Result<fabric::PartitionStatus> remove(const Caller& caller, const std::string& name);
  // As remove(), and the ports of former static members are waited for no more, but for those that
  // are known to hold its key. Of the others nobody can tell: who asks answers for it.
  using HoldsKey = std::function<bool(ib::Guid, ib::PKey)>;
  Result<fabric::PartitionStatus> forget_ports(const Caller& caller, const std::string& name,
                                               const HoldsKey& holds);
  // These and no others are the declared ones: they are created, updated and removed, one made by
  // a request is taken over. What cannot be done is told, and an earlier declaration of that name
  // stays as it was; what stands in the way may have gone when it is declared again.
  Result<std::vector<DeclarationError>> declare(const std::vector<fabric::Partition>& partitions,
                                                Now now, const DeclareOptions& how = {});
  // No file declares partitions any more. Those that one did are for requests from now on: their
  // names.
  Result<std::vector<std::string>> release_declared();
  // Grows whenever something of the ledger's goes, or changes, that a declaration may have been
  // refused for.
  uint64_t conflicts_freed() const { return conflicts_freed_; }

  // What partitions() would be behind create(), update() or remove() for an administrator, and the
  // refusal where there would be one. Nothing is changed.
  Result<std::vector<fabric::PartitionDefinition>> after_create(
      const fabric::Partition& partition) const;
  Result<std::vector<fabric::PartitionDefinition>> after_update(
      const fabric::Partition& partition) const;
  Result<std::vector<fabric::PartitionDefinition>> after_remove(const std::string& name) const;

  // --- bindings

  // The request with the names of the partitions that it asks for by their P_Key. A partition that
  // there is not, and one that the pod's namespace may not be in, are refused in the same words,
  // which say no more than the request does: what comes after this may say all of a partition. A
  // GUID that the pod may not choose is refused, too: what comes after this may say whose it is.
  Result<fabricapi::BindRequest> resolve(const Caller& caller,
                                         fabricapi::BindRequest request) const;

  // For an attachment there is one binding: asked for again it is the same one, and its lease is
  // renewed. With other partitions it changes: what it loses has to be gone before it gains
  // anything. exists where it has another port, kind, device or pod: that has to be unbound first.
  // busy while the old one is releasing, where another attachment has the VF or a child would be in
  // a partition otherwise than others of its port are, where a table is full, and where the node's
  // memberships, or all together, would be more than they may. unavailable while
  // the node is being forgotten. Partitions that are asked for by their P_Key have been named().
  Result<fabric::Binding> bind(const Caller& caller, const fabricapi::BindRequest& request,
                               const TableCapacity& places, Now now);
  // It is `releasing` then, and `released` where there is none.
  Result<fabric::Binding> unbind(const Caller& caller, const fabric::Attachment& attachment,
                                 Now now);

  // --- nodes

  // Renews the leases of what it names. What it does not name is released when its lease ends,
  // which for one that is `unknown` because of its lease is now. denied for a second machine of
  // the node's name; while it may be the first one after a boot, what it does not name stays, and
  // is not told.
  Result<fabricapi::SyncAnswer> sync(const Caller& caller, const fabricapi::SyncRequest& request,
                                     Now now);
  // All of it or nothing; the same VF has the same GUID until its node is forgotten.
  Result<std::vector<fabricapi::AllocatedGuid>> allocate(const Caller& caller,
                                                         const fabricapi::AllocateRequest& request);
  // Its agent has said something: it is alive. One that is not known stays so.
  void note_contact(const std::string& node, Now now);
  // Its bindings are releasing. When the last one is released its GUIDs are free, and it is gone.
  // busy where it has something and may be alive, unless that is forced: it was heard of within a
  // lease, or not at all, and the ledger was loaded within one.
  Result<fabricapi::Node> forget(const Caller& caller, const fabricapi::ForgetRequest& request,
                                 Now now);
  // Names of nodes that two machines have: both have been heard of lately.
  std::vector<std::string> duplicate_nodes(Now now) const;
  // Leases that have ended. next_expiry: when the next one will; nothing: none has begun.
  Status expire(Now now);
  // What has been released, since the last call, by the end of its lease and by nobody's request.
  std::vector<fabric::Attachment> take_expired();
  // Chosen GUIDs whose bindings have gone since that was asked last.
  std::vector<ib::Guid> take_ended();
  std::optional<std::chrono::steady_clock::time_point> next_expiry() const;

  // --- what has been found out. They may stage changes, so commit() comes behind them, too.

  // Sweeps that begin from now on read this version. To be told again behind each commit(): a
  // binding may need nothing that is not in it already.
  void note_written(uint64_t version, Now now);
  // A sweep that read it is over.
  void note_swept(uint64_t version);
  // The port's table was read after `version` was in force, and holds exactly what that says; by
  // Proof::none, the port is not on the subnet since. It means nothing if the port's part has
  // changed since then. Whether it meant anything.
  bool note_verified(ib::Guid guid, uint64_t version, fabric::Proof proof,
                     fabric::Enforcement enforcement, Now now);
  // Whether all of a port's partitions are content with nobody's word (proof: none), where the port
  // is not on the subnet.
  bool needs_no_proof(ib::Guid guid) const;
  // As above, but only known to hold nothing of Expected::leaving. Also for a port that will never
  // have a table again: that is for the caller to know.
  bool note_clean(ib::Guid guid, uint64_t version, fabric::Proof proof, Now now);
  // Static members that have been on the subnet since they became members, or may have been: to be
  // asked for all, behind each look and each change of members.
  void note_seen(const std::function<bool(ib::Guid)>& met);
  // No look at the subnet has found the port, and what was in force up to `version` may be
  // forgotten of it where none has since it became a static member.
  void note_never_seen(ib::Guid guid, uint64_t version);
  // What is being deleted, from when on; to be told behind each commit().
  void note_deleted(Now now);
  // Why a port's bindings are not as they should be. One that was verified is `unknown` if nobody
  // can tell (unreachable, timeout, port_down, port_unknown, vport, duplicate), `written` if its
  // table is wrong (refused, foreign_key, missing_key), and stays if the reason is not the port's.
  void set_condition(ib::Guid guid, const fabric::Condition& status, Now now);
  // What was verified has to be seen again.
  void invalidate_verified(const fabric::Condition& status, Now now);
  // Why no partition comes into force that is not yet; Reason::none: nothing stands in the way.
  void set_engine_fault(const fabric::Condition& status);

  // --- for the subnet manager and the witnesses

  // Policy::default_rule, then those that are not being deleted, by name. Valid behind a
  // successful commit(), and the same object until version() differs.
  std::shared_ptr<const std::vector<fabric::PartitionDefinition>> partitions() const;
  // Greater whenever partitions() differs.
  uint64_t version() const { return version_; }
  // In which the port's own part of it last changed. 0: it has none.
  uint64_t changed_in(ib::Guid guid) const;
  ExpectedTable expected(ib::Guid guid) const;
  // Ports of which something has to be seen: keys that are to come, or to leave.
  const std::set<ib::Guid>& unsettled() const;

  // Grows with all that is staged: what has not grown it has changed nothing that is kept.
  uint64_t changes() const { return staged_changes_; }
  // Whether commit() has anything to put on disk.
  bool staged() const { return !staged_.empty(); }
  // On disk, all that has been staged. On failure all of that has failed: the store is read again,
  // and what is there is what is promised.
  Status commit(Now now);

  // --- lookups. A node sees bindings of its own only, and no partitions.

  Result<fabric::Binding> binding(const Caller& caller, const fabric::Attachment& attachment) const;
  Result<fabricapi::ListPage<fabric::Binding>> bindings(const Caller& caller,
                                                        const fabricapi::BindingFilter& filter,
                                                        const fabricapi::PageRequest& page) const;
  std::vector<fabric::Binding> bindings_of(ib::Guid guid) const;
  // The same ones, until the ledger changes.
  std::vector<const fabric::Binding*> bindings_on(ib::Guid guid) const;
  // The ports that a node's bindings are on; as often as there are bindings.
  std::vector<ib::Guid> ports_of(const std::string& node) const;
  // The first partition of the request that its pod's namespace may be in, and its node not; empty:
  // there is none.
  std::string denied_to_node(const fabricapi::BindRequest& request) const;
  const RegistryLimits& limits() const { return policy_.limits; }
  // own: it is bound, was given or belongs to the node.
  PortOwner owner_of(ib::Guid guid, const std::string& node) const;
  std::optional<fabric::PartitionStatus> partition(const std::string& name) const;
  // Whether there is such a partition, and it takes index 0.
  bool uses_index0(const std::string& name) const;
  Result<fabricapi::ListPage<fabric::PartitionStatus>> partitions(
      const Caller& caller, const fabricapi::PageRequest& page) const;
  // Partitions that are being deleted and wait for nothing but ports, by name.
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

  // What watchers have to be told since the last call; each attachment once, as it is now. Nothing
  // while what is on disk is not known.
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

  // Ledger::partitions
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
  // Of a Sync: whether what it does not name is to end, and when its agent is to ask again at last.
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

  // findings
  bool note_observed(const Observed& seen);
  void note_binding(BindingRecord& entry, const Observed& seen);
  void note_leaving(const Observed& seen);
  // The first partition of the binding that requires more than `proof`; empty: none does.
  std::string unproved_partition(const BindingRecord& entry, fabric::Proof proof) const;
  bool is_proof_enough(const BindingRecord& entry, fabric::Proof proof) const;
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
  // Written as they are at commit().
  std::set<std::pair<store::RecordKind, std::string>> staged_;
  uint64_t staged_changes_ = 0;
  std::map<fabric::Attachment, std::optional<fabric::Binding>> changes_;  // with what has gone
  std::vector<fabric::Attachment> expired_;
  std::vector<ib::Guid> ended_;
  mutable std::shared_ptr<const std::vector<fabric::PartitionDefinition>> partitions_;
  mutable uint64_t partitions_version_ = 0;
};

}  // namespace ibpod::sm::registry
