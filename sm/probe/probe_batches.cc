#include "sm/probe/probe_batches.h"

#include <utility>

namespace ibpod::sm::probe {

ProbeBatch& ProbeBatches::batch(ProbeBatch::Time begun, const TopologyPtr& topology) {
  ProbeBatch& batch = batches_[begun];
  batch.begun = begun;
  batch.topology = topology;
  return batch;
}

void ProbeBatches::report(const TopologyPtr& topology, bool scan_runs) {
  if (batches_.empty() && topology_changed_ && !scan_runs) batch(Deadline::Clock::now(), topology);
  for (auto& [begun, batch] : std::exchange(batches_, {})) {
    topology_changed_ = false;
    callback_(std::move(batch));
  }
}

void ProbeBatches::report_scan(ProbeBatch scan) {
  topology_changed_ = false;
  callback_(std::move(scan));
}

}  // namespace ibpod::sm::probe
