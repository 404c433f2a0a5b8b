// Notes of a plan: warnings for the administrator before the change, in sentences.
#pragma once

#include "sm/diagnose/plan.h"
#include "sm/diagnose/step.h"

#include <map>
#include <vector>

namespace ibpod::sm::diagnose {

// The effects of a change, summed over ports.
struct ChangeSummary {
  void add(const fabric::EndPort& port, const verify::DesiredTable& from,
           const verify::DesiredTable& to, const TableStep& step);

  size_t opened = 0;                  // new full members of the default partition
  size_t closed = 0;                  // former full members of it
  size_t hosts = 0;                   // those of `closed` that are in no other partition
  std::map<uint16_t, size_t> losers;  // by partition (15 bits): ports that leave it
  std::vector<ib::Guid> crowded;      // with more keys than table entries
};

void note_change(v1::PlanResponse& plan, const std::vector<fabric::PartitionDefinition>& after,
                 const FabricSnapshot& now, const ChangeSummary& consequences);
void note_capacity(v1::PlanResponse& plan, const FabricSnapshot& now,
                   const ChangeSummary& consequences);
void note_options(v1::PlanResponse& plan, const FabricSnapshot& now, const PlanOptions& terms);

}  // namespace ibpod::sm::diagnose
