// PartitionStates: our partitions as they are desired, as UFM shows them, and as they are in our
// record, with the members that make difficulties. It derives the next call to UFM from that, and
// takes in the results. It makes no call and has no clock.
#pragma once

#include "sm/ufm/confirmed_members.h"
#include "sm/ufm/member_faults.h"
#include "sm/ufm/plan.h"
#include "sm/ufm/shown_partitions.h"
#include "sm/ufm/ufm_counts.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::ufm {

class PartitionStates {
 public:
  using Time = Deadline::Clock::time_point;
  using Kind = engine::PortFault::Kind;

  PartitionStates(EngineSettings settings, WrittenMembers written)
      : settings_(std::move(settings)), written_(std::move(written)) {}

  // From now on these are desired.
  void want(std::shared_ptr<const DesiredPartitions> desired);

  // The next call, if all partitions are known; nothing: there is none now. Partitions take turns.
  std::optional<Step> next_step(Time now);
  // To be called before the call is made: the record on disk then has the change. After an error
  // the call must not be made.
  Status begin(const Step& step, Time now);
  // The result of the call, if UFM has answered.
  void accepted(const Step& step);
  void refused(const Step& step, const std::string& why, Time now);
  // The call has no result: nothing is known until all partitions have been read.
  void invalidate();

  // A reading of all partitions, or of one. Returns true if members that were as we had put them,
  // or gone as we had removed them, have changed without a call of ours.
  bool read_all(std::vector<UfmPartition> partitions, Time now);
  bool read(ib::PKey pkey, std::optional<UfmPartition> partition, Time now);

  // True if each member is as in `candidate`, or already as desired later, or has a fault. The
  // partitions have been read since the last call.
  bool are_in_place(const DesiredPartitions& candidate) const;
  // True if UFM has ignored the changes of several ports for minutes, and has made none.
  bool are_stuck(Time now) const;
  // Ends faults whose time is over.
  void expire(Time now) { faults_.expire(now); }
  // When a member may be tried again.
  std::optional<Time> due(Time now) const { return faults_.due(now); }

  // The faults of our partitions in UFM.
  std::vector<engine::EngineFinding> findings(Time now) const;
  // By port and kind.
  std::vector<engine::PortFault> port_faults() const;
  // The desired partitions whose P_Keys are another user's.
  std::vector<engine::PartitionFault> partition_faults() const;
  // The P_Keys of `pkeys` that are another user's, with the members that make them so. Those of
  // desired partitions are left out: they have port_faults().
  std::map<ib::PKey, std::vector<ib::Guid>> taken() const;
  const ShownPartitions& shown() const { return shown_; }
  const UfmCounts& counts() const { return counts_; }

 private:
  // As desired, shown and recorded; state(): as effective().
  PartitionState whole_state(ib::PKey pkey) const;
  PartitionState state(ib::PKey pkey) const { return effective(whole_state(pkey)); }
  std::set<ib::PKey> ours() const;
  std::vector<Step> steps(ib::PKey pkey, Time now) const;
  bool waits_for_index0(const Step& step, ib::Guid guid) const;
  bool note_read(ib::PKey pkey, Time now);
  void note_foreign(ib::PKey pkey);
  void check_accepted(const PartitionState& state, Time now);
  void tidy_record(const PartitionState& state, Time now);

  EngineSettings settings_;
  WrittenMembers written_;
  std::shared_ptr<const DesiredPartitions> desired_ = std::make_shared<DesiredPartitions>();
  ShownPartitions shown_;
  ConfirmedMembers confirmed_;
  MemberFaults faults_;
  std::map<ib::PKey, std::map<ib::Guid, Kind>> accepted_;  // since the last reading
  std::map<ib::PKey, std::set<ib::Guid>> known_foreign_;   // of desired partitions; not empty
  ib::PKey turn_;                                          // of the last step
  Time last_shown_{};                                      // UFM showed a change that it accepted
  struct Widened {
    Time at;
    size_t count = 0;
    std::string text;
  };
  std::optional<Widened> widened_;  // the last one
  UfmCounts counts_;
};

}  // namespace ibpod::sm::ufm
