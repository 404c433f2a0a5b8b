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

void ShownPartitions::touch(const Step& step) { touched_[step.pkey].insert(step.of_class); }

std::set<ib::PKey> ShownPartitions::touched() const {
  std::set<ib::PKey> pkeys;
  for (const auto& [pkey, classes] : touched_) pkeys.insert(pkey);
  return pkeys;
}

bool ShownPartitions::is_done(const Step& step) const {
  const auto classes = touched_.find(step.pkey);
  return classes != touched_.end() && classes->second.contains(step.of_class);
}

const UfmPartition* ShownPartitions::find(ib::PKey pkey) const {
  const auto found = partitions_.find(pkey);
  return found == partitions_.end() ? nullptr : &found->second;
}

}  // namespace ibpod::sm::ufm
