// What an administrator should know before a change, in sentences.
#pragma once

#include "sm/plan/plan.h"
#include "sm/plan/step.h"

#include <map>
#include <vector>

namespace ibpod::sm {

// What a change does, port by port.
struct Consequences {
  void add(const fabric::EndPort& port, const WantedKeys& from, const WantedKeys& to,
           const Step& step);

  size_t opened = 0;                  // become full members of the default partition
  size_t closed = 0;                  // are none any more
  size_t hosts = 0;                   // of these, those that are in no other partition
  std::map<uint16_t, size_t> losers;  // of partitions, by the 15 bits: ports that leave
  std::vector<ib::Guid> crowded;      // with more keys than places
};

void note_change(fabricapi::Plan& plan, const std::vector<fabric::Partition>& after,
                 const Evidence& now, const Consequences& consequences);
void note_rooms(fabricapi::Plan& plan, const Evidence& now, const Consequences& consequences);
void note_terms(fabricapi::Plan& plan, const Evidence& now, const PlanTerms& terms);

}  // namespace ibpod::sm
