#include "sm/partitions/partition_declarations.h"

#include "sm/partitions/rendering.h"

#include <set>
#include <utility>

namespace ibpod::sm::partitions {

using fabric::Partition;
using state::Now;
using state::PartitionRecord;

namespace {

// True if both are equal. Without a desired P_Key, any from the pool matches.
bool is_as(const Partition& present, Partition desired) {
  if (!desired.pkey) desired.pkey = present.pkey;
  return present == desired;
}

}  // namespace

// Tries again while there is progress: a partition may conflict with one that changes later.
Result<std::vector<DeclarationError>> PartitionDeclarations::declare(
    const std::vector<Partition>& partitions, Now now, const DeclareOptions& how) {
  deps_.journal.staged().clear_conflict_freed();
  TRY(deps_.journal.check_readable());
  std::vector<DeclarationError> refused;
  if (how.complete) refused = undeclare(partitions);
  std::set<std::string> names;
  std::vector<const Partition*> left;
  for (const Partition& partition : partitions) {
    if (names.insert(partition.name).second)
      left.push_back(&partition);
    else
      refused.push_back({partition.name, Error(Code::invalid, "it is declared twice")});
  }
  std::vector<DeclarationError> tried;
  for (bool progress = true; progress && !left.empty();) {
    tried.clear();
    std::vector<const Partition*> again;
    for (const Partition* const partition : left) {
      Status done = declare_one(*partition, how, now);
      if (done) continue;
      again.push_back(partition);
      tried.push_back({partition->name, std::move(done).error()});
    }
    progress = again.size() < left.size();
    left = std::move(again);
  }
  deps_.journal.staged().clear_conflict_freed();  // the last round has taken it into account
  if (!left.empty()) refused.insert(refused.end(), tried.begin(), tried.end());
  return refused;
}

// A partition that already is as declared is not checked again: another change could reject it.
Status PartitionDeclarations::declare_one(const Partition& partition, const DeclareOptions& how,
                                          Now now) {
  PartitionRecord* record = deps_.journal.state().find_partition(partition.name);
  if (record != nullptr && record->declared && is_as(record->partition, partition)) return ok();
  TRY(check_possible(record, partition, how));
  if (record != nullptr) {
    TRY(deps_.editor.update(*record, partition, now));
  } else {
    record = TRY(deps_.editor.create(partition));
  }
  if (record->declared) return ok();
  record->declared = true;
  deps_.journal.staged().add(*record);
  return ok();
}

Status PartitionDeclarations::check_possible(const PartitionRecord* record,
                                             const Partition& desired,
                                             const DeclareOptions& how) const {
  if (!how.check) return ok();
  const Partition partition =
      TRY(record == nullptr ? deps_.admission.admit_new(desired)
                            : deps_.admission.admit_change(*record, desired));
  const fabric::PartitionDefinition definition =
      render_after(record, partition, deps_.journal.policy());
  if (record != nullptr && definition == render(*record, deps_.journal.policy())) return ok();
  return how.check(deps_.view.definitions_with(definition));
}

// Deletes partitions that are no longer declared.
std::vector<DeclarationError> PartitionDeclarations::undeclare(
    const std::vector<Partition>& partitions) {
  std::set<std::string> names;
  for (const Partition& partition : partitions) names.insert(partition.name);
  std::vector<DeclarationError> refused;
  deps_.journal.state().for_each_partition([&](PartitionRecord& record) {
    const std::string& name = record.partition.name;
    if (!record.declared || names.contains(name)) return;
    Status done = deps_.editor.begin_delete(record);
    if (!done) refused.push_back({name, std::move(done).error()});
  });
  return refused;
}

Result<std::vector<std::string>> PartitionDeclarations::release() {
  TRY(deps_.journal.check_readable());
  std::vector<std::string> names;
  deps_.journal.state().for_each_partition([&](PartitionRecord& record) {
    if (!record.declared) return;
    record.declared = false;
    deps_.journal.staged().add(record);
    names.push_back(record.partition.name);
  });
  return names;
}

}  // namespace ibpod::sm::partitions
