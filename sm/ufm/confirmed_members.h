// ConfirmedMembers: the members of our record that UFM has shown as we have given them, or has
// shown to be gone. If UFM shows one of them otherwise later, and no call of ours was the reason,
// then its state is not the one that we knew: a failover has lost the last writes, or another user
// has changed it.
#pragma once

#include "lib/base/clock.h"
#include "sm/ufm/plan.h"

#include <map>
#include <vector>

namespace ibpod::sm::ufm {

class ConfirmedMembers {
 public:
  using Time = Deadline::Clock::time_point;

  // A call of ours is about to change these members.
  void changing(const Step& step);
  // Compares the partition, which was just read, with the last reading. Returns the members that
  // have changed without a call of ours.
  std::vector<ib::Guid> note_read(const PartitionState& state, Time now);
  // The members that are leaving, and gone since `time` or longer.
  std::vector<ib::Guid> gone_since(const PartitionState& state, Time time) const;

 private:
  struct Confirmed {
    bool leaving = false;
    MemberValues values;
    Time since{};
  };
  std::map<ib::PKey, std::map<ib::Guid, Confirmed>> confirmed_;
};

}  // namespace ibpod::sm::ufm
