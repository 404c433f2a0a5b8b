// ShownPartitions: the partitions as UFM has shown them, and which of them have to be read again. A
// partition that was changed since its last reading is unknown, whatever UFM has answered.
#pragma once

#include "sm/ufm/plan.h"
#include "sm/ufm/ufm_api.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace ibpod::sm::ufm {

class ShownPartitions {
 public:
  // All partitions were read.
  void read_all(std::vector<UfmPartition> partitions);
  // One was read; nothing: it does not exist.
  void read(ib::PKey pkey, std::optional<UfmPartition> partition);
  // A call is about to change the partition.
  void touch(const Step& step);
  // Nothing is known any more: a UFM that did not answer may have been replaced by another one.
  void invalidate() { is_complete_ = false; }

  // All partitions have been read since invalidate(), if ever.
  bool is_complete() const { return is_complete_; }
  // Those that were touched since their last reading.
  std::set<ib::PKey> touched() const;
  bool is_touched(ib::PKey pkey) const { return touched_.contains(pkey); }
  // True if the partition was touched by a step of this class since its last reading. What came
  // meanwhile goes together into one step after the next reading.
  bool is_done(const Step& step) const;

  // nullptr if UFM does not have it.
  const UfmPartition* find(ib::PKey pkey) const;
  const std::map<ib::PKey, UfmPartition>& all() const { return partitions_; }

 private:
  std::map<ib::PKey, UfmPartition> partitions_;
  std::map<ib::PKey, std::set<Step::Class>> touched_;
  bool is_complete_ = false;
};

}  // namespace ibpod::sm::ufm
