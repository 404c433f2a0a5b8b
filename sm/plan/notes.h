// What an administrator should know before a change, in sentences.
#pragma once

#include "sm/plan/plan.h"
#include "sm/plan/step.h"

#include <map>
#include <vector>

namespace ibpod::sm::plan {

// What a change does, port by port.
struct ChangeSummary {
  void add(const fabric::EndPort& port, const tables::DesiredTable& from,
           const tables::DesiredTable& to, const TableStep& step);

  size_t opened = 0;                  // become full members of the default partition
  size_t closed = 0;                  // are none any more
  size_t hosts = 0;                   // of these, those that are in no other partition
  std::map<uint16_t, size_t> losers;  // of partitions, by the 15 bits: ports that leave
  std::vector<ib::Guid> crowded;      // with more keys than places
};

void note_change(fabricapi::Plan& plan, const std::vector<fabric::PartitionDefinition>& after,
                 const tables::FabricSnapshot& now, const ChangeSummary& consequences);
void note_capacity(fabricapi::Plan& plan, const tables::FabricSnapshot& now,
                   const ChangeSummary& consequences);
void note_options(fabricapi::Plan& plan, const tables::FabricSnapshot& now,
                  const PlanOptions& terms);

}  // namespace ibpod::sm::plan
