// PartitionRegistry: the partitions of the subnet: requests of administrators to change them, and
// observations of the subnet.
//
// Callers are authorized before they get here (sm/api/call_gate.h). A request either succeeds, or
// returns an Error and changes nothing: denied for a declared partition, invalid if it can never be
// granted, busy if a binding or another partition is in the way. Changes are durable after
// Journal::commit().
#pragma once

#include "lib/fabric/partition.h"
#include "sm/partitions/partition_admission.h"
#include "sm/partitions/partition_declarations.h"
#include "sm/partitions/partition_editor.h"
#include "sm/partitions/partition_view.h"
#include "sm/state/journal.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace ibpod::sm::partitions {

class PartitionRegistry {
 public:
  // `journal` outlives it.
  explicit PartitionRegistry(state::Journal& journal);
  // Its parts refer to each other.
  PartitionRegistry(const PartitionRegistry&) = delete;
  PartitionRegistry& operator=(const PartitionRegistry&) = delete;

  const PartitionView& view() const { return view_; }
  // The partitions of the declared file, which requests cannot change.
  PartitionDeclarations& declarations() { return declarations_; }
  const PartitionDeclarations& declarations() const { return declarations_; }

  // Sets the P_Keys (15 bits) that the administrator's section uses: no partition gets one of them.
  void reserve_pkeys(std::set<uint16_t> pkeys) { admission_.reserve_pkeys(std::move(pkeys)); }

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

  // The definitions for the subnet manager as they would be after create(), update() or remove() by
  // an administrator, or the error of that call. Changes nothing.
  Result<Definitions> after_create(const fabric::Partition& partition) const;
  Result<Definitions> after_update(const fabric::Partition& partition) const;
  Result<Definitions> after_remove(const std::string& name) const;

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
  // Sets why new partitions cannot be applied, Reason::none if they can; and by P_Key (15 bits),
  // which partitions are not in place, and why. Call it after note_swept().
  void set_engine_faults(const fabric::Condition& engine,
                         const std::map<uint16_t, std::string>& partitions = {});

 private:
  const state::Records& records() const { return journal_.records(); }

  state::Journal& journal_;
  PartitionView view_;
  PartitionAdmission admission_;
  PartitionEditor editor_;
  PartitionDeclarations declarations_;
};

}  // namespace ibpod::sm::partitions
