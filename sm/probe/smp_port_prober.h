// SmpPortProber: reads the P_Key tables from the ports themselves (proof `port`), never from a
// subnet manager. It reads all tables at intervals, polls the ports that a call waits for, and
// writes the blocks that need repair.
#pragma once

#include "lib/mad/scheduler.h"
#include "sm/probe/discovery_thread.h"
#include "sm/probe/poll_schedule.h"
#include "sm/probe/port_prober.h"
#include "sm/probe/probe_batches.h"
#include "sm/probe/prober_settings.h"
#include "sm/probe/running_probes.h"
#include "sm/probe/scan_plan.h"
#include "sm/probe/task_inbox.h"

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

namespace ibpod::sm::probe {

// It has a thread of its own, and another one for discoveries, so that polled ports do not wait for
// them. All calls are thread-safe, also within the Callback, and return at once.
class SmpPortProber final : public PortProber {
 public:
  // Called on its thread, which waits for it. Results that began together come together; those of a
  // silent port come later. After a discovery without a scan, a batch may have a new topology and
  // no results.
  using Callback = ProbeBatches::Callback;

  // Starts with a scan. The scheduler outlives it.
  SmpPortProber(mad::Scheduler& scheduler, const ProberSettings& settings, Callback seen);
  // Stops: nothing is reported afterwards. A Set that was sent may still be carried out.
  ~SmpPortProber() override;
  SmpPortProber(const SmpPortProber&) = delete;
  SmpPortProber& operator=(const SmpPortProber&) = delete;
  SmpPortProber(SmpPortProber&&) = delete;
  SmpPortProber& operator=(SmpPortProber&&) = delete;

  // PollPace sets the intervals. If the topology lacks a port, or another port answers at its LID,
  // the subnet is discovered again.
  void poll(std::set<ib::Guid> ports) override;
  // Starts a full scan now: discovery, then the table of every end port and of its switch port.
  void rescan() override;
  // Repairs wait until the first discovery is complete.
  void repair(std::vector<Repair> repairs) override;
  void swept() override;

 private:
  struct Scan {
    ProbeBatch batch;
    std::vector<ib::Guid> left;
    size_t under_way = 0;
    bool everything = true;
  };

  void run(const std::stop_token& stop);
  void take(Tasks& mail, ProbeBatch::Time now);
  void set_polled(std::set<ib::Guid> ports, ProbeBatch::Time now);
  void discovered(const DiscoveryDone& surveyed, ProbeBatch::Time now);
  void begin_scan(const DiscoveryDone& surveyed);
  void continue_scan(ProbeBatch::Time now);
  void probe_polled(ProbeBatch::Time now);
  void begin_repairs(ProbeBatch::Time now);
  void start_probe(const fabric::Port& port, const ProbeOptions& terms, ProbeBatch::Time now,
                   std::vector<Repair> repairs);
  void finished(const RunningProbe& visiting, ProbeBatch::Time now);
  void absent(ib::Guid port, bool of_repair, ProbeBatch::Time now);
  void missing(const ProbeResult& reading);
  std::optional<ProbeBatch::Time> next() const;

  const ProberSettings settings_;
  // Answers may come after this object is destroyed.
  std::shared_ptr<TaskInbox> inbox_ = std::make_shared<TaskInbox>();

  // The rest belongs to its thread.
  ScanPlan plan_;
  PollSchedule poll_schedule_;
  std::set<ib::Guid> missing_;  // at the last reading: a discovery is requested
  std::shared_ptr<const fabric::Topology> topology_;
  std::optional<Scan> scan_;
  std::vector<Repair> repairs_;  // waiting for a topology
  RunningProbes probes_;
  ProbeBatches batches_;
  DiscoveryThread discovery_;
  std::jthread thread_;
};

}  // namespace ibpod::sm::probe
