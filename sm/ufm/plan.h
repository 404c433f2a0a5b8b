// plan(): the calls that make a partition of UFM as it is desired. Pure functions: the same input
// always has the same plan, so nothing has to be remembered between two calls.
#pragma once

#include "sm/ufm/desired.h"
#include "sm/ufm/settings.h"
#include "sm/ufm/ufm_api.h"
#include "sm/ufm/written_members.h"

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm::ufm {

// A partition as it is desired, as it was last read, and as it is in our record. nullptr: it is not
// there.
struct PartitionState {
  ib::PKey pkey;
  const DesiredPartition* desired = nullptr;
  const UfmPartition* shown = nullptr;
  const WrittenPartition* written = nullptr;
  // Foreign members that it had while it was ours. If they come back with it, it is ours again.
  const std::set<ib::Guid>* known_foreign = nullptr;
};

// The member; nullptr if the partition is nullptr or does not have it.
const UfmMember* find_member(const UfmPartition* partition, ib::Guid guid);
// True if UFM shows exactly these values. A value that UFM does not show is unknown, so it is not.
bool has_values(const UfmMember& shown, const MemberValues& values);

// The members, by GUID, that are not as desired.
struct Difference {
  std::vector<ib::Guid> missing = {};   // desired, and not in UFM
  std::vector<ib::Guid> wrong = {};     // with other values than desired
  std::vector<ib::Guid> unknown = {};   // UFM does not show all values
  std::vector<ib::Guid> widened = {};   // full, although limited was desired and asked for
  std::vector<ib::Guid> leftover = {};  // put into UFM by us, and not desired any more
  std::vector<ib::Guid> foreign = {};   // neither desired nor put into UFM by us
  bool operator==(const Difference&) const = default;
};
Difference compare(const PartitionState& state);

// The members that show that UFM's partition is another user's: they are neither desired nor in our
// record nor known as foreign members, and our record has no member that was shown before and is
// not leaving. Empty: the partition is ours, or can be.
std::vector<ib::Guid> owners(const PartitionState& state);
// The state by which the partition is treated: nothing is desired of one that is another user's,
// so that our members leave it.
PartitionState effective(PartitionState state);

// The next attempt at a member after a failed one.
struct Retry {
  bool waits = false;            // not now
  size_t together = kMostGuids;  // the most GUIDs in one call with it
  bool remove_first = false;     // UFM does not change the values of a member
  bool operator==(const Retry&) const = default;
};
// The retries of members with a failed attempt.
struct Retries {
  std::map<ib::Guid, Retry> add = {}, remove = {};
};

struct Step {
  enum class Kind { removal, addition };
  // Steps of one class differ only in their GUIDs. In the order in which they are taken.
  struct Class {
    Kind kind = Kind::removal;
    size_t alone = 0;  // the greater, the fewer GUIDs may be in one call
    ib::Membership membership = ib::Membership::limited;
    bool index0 = false;
    auto operator<=>(const Class&) const = default;
  };
  ib::PKey pkey;
  Class of_class = {};
  std::vector<ib::Guid> guids = {};  // 1 to kMostGuids
  bool ip_over_ib = false;           // of an addition
  bool operator==(const Step&) const = default;
};
// Only for an addition.
Addition addition_of(const Step& step);

// The steps, by class: removals come first, since a P_Key table may have to lose a key for another,
// and a member that has to be changed is added again after its removal. A widened member is removed
// even if its addition has to wait. None if the partition is another user's.
std::vector<Step> plan(const PartitionState& state, const Difference& difference,
                       const Retries& retries, ForeignMembers foreign_members);

// Our record of the partition, with the changes that these steps make: on disk before the first of
// them. A member that is there as desired is ours from now on, even if we did not add it; one that
// is neither desired nor there is leaving. In a partition that is not another user's, all that UFM
// shows are not only intended any more; if UFM shows no member, all are intended again. Removed
// foreign members do not get into it.
WrittenPartition record_with(const PartitionState& state, const std::vector<Step>& steps);

}  // namespace ibpod::sm::ufm
