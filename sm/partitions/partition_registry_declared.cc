// Declared partitions.
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

namespace ibpod::sm::registry {

using fabric::Partition;

namespace {

// Compares both; without a desired P_Key, any from the pool will do.
bool is_as(const Partition& present, Partition desired) {
  if (!desired.pkey) desired.pkey = present.pkey;
  return present == desired;
}

}  // namespace

// Tries again while there is progress: a partition may conflict with one that changes later.
Result<std::vector<DeclarationError>> Registry::declare(const std::vector<Partition>& partitions,
                                                        Now now, const DeclareOptions& how) {
  TRY(check_readable());
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
  if (!left.empty()) refused.insert(refused.end(), tried.begin(), tried.end());
  return refused;
}

// A partition that already is as declared is not checked again: changes of others could reject it.
Status Registry::declare_one(const Partition& partition, const DeclareOptions& how, Now now) {
  PartitionRecord* record = state_->find_partition(partition.name);
  if (record != nullptr && record->declared && is_as(record->partition, partition)) return ok();
  TRY(check_possible(record, partition, how));
  if (record != nullptr) {
    TRY(do_update(*record, partition, now));
  } else {
    record = TRY(do_create(partition));
  }
  if (record->declared) return ok();
  record->declared = true;
  stage(*record);
  return ok();
}

Status Registry::check_possible(const PartitionRecord* record, const Partition& desired,
                                const DeclareOptions& how) const {
  if (!how.check) return ok();
  const Partition partition =
      TRY(record == nullptr ? checked_create(desired) : checked_update(*record, desired));
  const fabric::PartitionDefinition definition = engine_members_after(record, partition);
  if (record != nullptr && definition == rendered(*record)) return ok();
  return how.check(partitions_with(definition));
}

// Deletes partitions that are no longer declared.
std::vector<DeclarationError> Registry::undeclare(const std::vector<Partition>& partitions) {
  std::set<std::string> names;
  for (const Partition& partition : partitions) names.insert(partition.name);
  std::vector<DeclarationError> refused;
  for (auto& [name, record] : state_->partitions) {
    if (!record.declared || names.contains(name)) continue;
    Status done = begin_delete(record);
    if (!done) refused.push_back({name, std::move(done).error()});
  }
  return refused;
}

Result<std::vector<std::string>> Registry::release_declared() {
  TRY(check_readable());
  std::vector<std::string> names;
  for (auto& [name, record] : state_->partitions) {
    if (!record.declared) continue;
    record.declared = false;
    stage(record);
    names.push_back(name);
  }
  return names;
}

}  // namespace ibpod::sm::registry
