// The part of PartitionRegistry about observations of the subnet.
#include "sm/partitions/former_members.h"
#include "sm/partitions/partition_registry.h"

namespace ibpod::sm::partitions {

using fabric::PartitionState;
using fabric::Reason;
using state::PartitionRecord;

void PartitionRegistry::note_swept(uint64_t version) {
  if (!journal_.is_readable()) return;
  journal_.state().for_each_partition([&](PartitionRecord& record) {
    if (record.version > version) return;
    record.swept = true;
    if (record.state == PartitionState::provisioning) {
      record.state = PartitionState::ready;
      record.condition = {};
    }
    remove_if_left(journal_, record);
  });
}

void PartitionRegistry::note_seen(const std::function<bool(ib::Guid)>& met) {
  if (!journal_.is_readable()) return;
  journal_.state().for_each_partition([&](PartitionRecord& record) {
    std::erase_if(record.never_seen, [&](ib::Guid guid) {
      return met(guid) ||
             (!record.former_members.contains(guid) && !record.engine_members.contains(guid));
    });
  });
}

void PartitionRegistry::note_never_seen(ib::Guid guid, uint64_t version) {
  const state::PortRecord* const port = records().find_port(guid);
  if (!journal_.is_readable() || port == nullptr || version < port->changed_in) return;
  const std::set<PartitionRecord*> leaving = port->former_member_of;
  for (PartitionRecord* const record : leaving) {
    if (!record->never_seen.contains(guid)) continue;
    note_left(journal_, *record, guid);
    remove_if_left(journal_, *record);
  }
  journal_.refresh(guid);
}

void PartitionRegistry::note_deleted(state::Now now) {
  if (!journal_.is_readable()) return;
  journal_.state().for_each_partition([&](PartitionRecord& record) {
    if (record.deleting() && record.delete_began == state::Steady{})
      record.delete_began = now.steady;
  });
}

void PartitionRegistry::set_engine_faults(const fabric::Condition& engine,
                                          const std::map<uint16_t, std::string>& partitions) {
  if (!journal_.is_readable()) return;
  journal_.state().for_each_partition([&](PartitionRecord& record) {
    if (record.deleting()) return;
    const auto fault = partitions.find(record.partition.pkey->partition());
    const bool is_faulty = fault != partitions.end();
    if (is_faulty) {
      record.state = PartitionState::error;
      record.condition = {Reason::misconfigured, fault->second};
    } else if (engine.reason != Reason::none && record.state != PartitionState::ready) {
      record.state = PartitionState::error;
      record.condition = engine;
    } else if (engine.reason == Reason::none && record.state == PartitionState::error) {
      record.state = record.swept ? PartitionState::ready : PartitionState::provisioning;
      record.condition = {};
    }
  });
}

}  // namespace ibpod::sm::partitions
