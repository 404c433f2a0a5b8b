// AddressSweep: has IPAM take back what it is owed after an attachment's end, where the runtime's
// DEL does not come again.
#pragma once

#include "agent/gc/gc_run.h"
#include "agent/gc/gc_deps.h"

#include <map>

namespace ibpod::agent {

class AddressSweep {
 public:
  using Time = Deadline::Clock::time_point;
  // Of what is new, the DEL that left it may just be asking IPAM; then after each failure, twice as
  // long each time.
  static constexpr Duration kFirstPause{5'000};
  // After an IPAM that failed.
  static constexpr Duration kNext{1'000};

  // Comes last in a pass, and ends with the first IPAM that fails: a tenant's network may name one
  // that hangs, and devices wait for nothing of that. Who has waited longest is next.
  void sweep(const World& world, Time now, Duration longest_pause, Pass& pass);
  void end_pauses();

 private:
  struct Wait {
    Duration pause;
    Time not_before;
    std::string failure = {};
  };
  std::vector<node::AddressReleaseName> in_turn(std::vector<node::AddressReleaseName> names,
                                                Time now);
  OwedAddresses attempt(const World& world, const node::AddressReleaseName& name);

  std::map<node::AddressReleaseName, Wait> waits_;
};

}  // namespace ibpod::agent
