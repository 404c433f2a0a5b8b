#include "sm/ufm/shown_partitions.h"

#include <utility>

namespace ibpod::sm::ufm {

void ShownPartitions::read_all(std::vector<UfmPartition> partitions) {
  partitions_.clear();
  for (UfmPartition& partition : partitions) partitions_[partition.pkey] = std::move(partition);
  touched_.clear();
  is_complete_ = true;
}

void ShownPartitions::read(ib::PKey pkey, std::optional<UfmPartition> partition) {
  if (partition)
    partitions_[pkey] = std::move(*partition);
  else
    partitions_.erase(pkey);
  touched_.erase(pkey);
}

void ShownPartitions::touch(const Step& step) {
  Touched& touched = touched_[step.pkey];
  touched.classes.insert(step.of_class);
  for (const ib::Guid guid : step.guids) touched.members[guid] = step.of_class.kind;
}

std::set<ib::PKey> ShownPartitions::touched() const {
  std::set<ib::PKey> pkeys;
  for (const auto& [pkey, touched] : touched_) pkeys.insert(pkey);
  return pkeys;
}

bool ShownPartitions::is_done(const Step& step) const {
  const auto touched = touched_.find(step.pkey);
  return touched != touched_.end() && touched->second.classes.contains(step.of_class);
}

bool ShownPartitions::is_pending(const Step& step, ib::Guid guid) const {
  const auto touched = touched_.find(step.pkey);
  if (touched == touched_.end()) return false;
  const auto last = touched->second.members.find(guid);
  if (last == touched->second.members.end()) return false;
  return last->second == Step::Kind::addition || step.of_class.kind == Step::Kind::removal;
}

const UfmPartition* ShownPartitions::find(ib::PKey pkey) const {
  const auto found = partitions_.find(pkey);
  return found == partitions_.end() ? nullptr : &found->second;
}

}  // namespace ibpod::sm::ufm
