// ProbeBatches: results that wait to be reported: those that began together are reported together.
#pragma once

#include "sm/probe/probe_result.h"

#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace ibpod::sm::probe {

// For the prober's thread.
class ProbeBatches {
 public:
  using Callback = std::function<void(ProbeBatch)>;
  using TopologyPtr = std::shared_ptr<const fabric::Topology>;

  explicit ProbeBatches(Callback callback) : callback_(std::move(callback)) {}

  // There is a new topology: the next batch reports it.
  void topology_changed() { topology_changed_ = true; }
  // The batch of the results that began at `begun`, with this topology; valid until report().
  ProbeBatch& batch(ProbeBatch::Time begun, const TopologyPtr& topology);
  // Both call the callback, on this thread. Reports all batches; if there are none, an empty one
  // with a new topology, unless a scan runs, which will report it.
  void report(const TopologyPtr& topology, bool scan_runs);
  // Reports the batch of a scan.
  void report_scan(ProbeBatch scan);

 private:
  Callback callback_;
  std::map<ProbeBatch::Time, ProbeBatch> batches_;
  bool topology_changed_ = false;  // and not reported yet
};

}  // namespace ibpod::sm::probe
