// MemberFaults: the members that UFM does not add or remove as it is asked, and when each is tried
// again. A member is in it until UFM shows it as desired.
//
// If UFM refuses a call for several ports, it does not say reliably which of them is the cause: all
// are tried again at once, in calls for half as many, until each call has one port. So one refused
// port keeps no other from being added.
#pragma once

#include "lib/base/back_off.h"
#include "sm/engine/subnet_manager.h"
#include "sm/ufm/plan.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::ufm {

class MemberFaults {
 public:
  using Time = Deadline::Clock::time_point;
  using Kind = engine::PortFault::Kind;

  // UFM has refused this call, with these words.
  void refused(const Step& step, const std::string& why, Time now);
  // UFM has accepted the change of this member, and does not show it. `in_place`: it shows the
  // member with its former values, so it is removed before the next attempt.
  void ignored(Kind kind, ib::PKey pkey, ib::Guid guid, bool in_place, const std::string& text,
               Time now);
  // The member is not to be added, or removed, any more, or UFM shows that it has been. A member
  // that had to be removed keeps its fault until `until`: its key may still be in the port's table.
  void settle(Kind kind, ib::PKey pkey, ib::Guid guid, std::optional<Time> until = {});
  // Ends the faults whose time is over.
  void expire(Time now);

  // Without those that only wait for settle()'s time.
  bool has(Kind kind, ib::PKey pkey, ib::Guid guid) const;
  std::vector<ib::Guid> members(Kind kind, ib::PKey pkey) const;
  // The P_Keys with a fault of either kind.
  std::set<ib::PKey> pkeys() const;
  Retries retries(ib::PKey pkey, Time now) const;
  // When the next member may be tried again, or a fault ends; nothing: there is none.
  std::optional<Time> due(Time now) const;
  // True if changes of two ports or more have been ignored since `since`: not the ports but UFM is
  // the cause.
  bool ignores_all(Time since) const;
  // Unsorted, one for each member.
  std::vector<engine::PortFault> faults() const;

 private:
  struct Fault {
    std::string text;
    BackOff pauses;
    Time next{};                   // not before
    size_t together = kMostGuids;  // see Retry
    bool remove_first = false;
    std::optional<Time> ignored_since = {};
    std::optional<Time> until = {};  // it is over then
  };
  using Faults = std::map<ib::Guid, Fault>;
  using Key = std::pair<ib::PKey, Kind>;
  const Faults* find(Kind kind, ib::PKey pkey) const;
  Fault& fault_of(Kind kind, ib::PKey pkey, ib::Guid guid, const BackOff& pauses);
  std::map<ib::Guid, Retry> retries(Kind kind, ib::PKey pkey, Time now) const;

  std::map<Key, Faults> faults_;
  std::map<Key, size_t> refusals_;  // since the P_Key had no fault of this kind
};

}  // namespace ibpod::sm::ufm
