// UfmModel: a UFM without its REST interface. It stores partitions and groups of GUIDs, does what
// callers ask for, or what a fault makes of that, and writes a log. A second administrator is
// another caller. What it stores is not in force: that is for the OpenSM of a PartitionsWriter, or
// of a model. For any number of threads.
#pragma once

#include "tests/support/ufm/call.h"
#include "tests/support/ufm/fault.h"
#include "tests/support/ufm/guid_mappings.h"
#include "tests/support/ufm/state.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace ibpod::fake_ufm {

class UfmModel {
 public:
  using Time = std::chrono::system_clock::time_point;
  using Clock = std::function<Time()>;

  explicit UfmModel(Clock clock = std::chrono::system_clock::now);
  UfmModel(const UfmModel&) = delete;
  UfmModel& operator=(const UfmModel&) = delete;

  // Returns at once, also for a fault that hangs or is slow: Outcome::delivery says what the caller
  // would see of it.
  Outcome call(const Call& call);
  // Records a request that is refused before it gets here.
  void log_refusal(const Call& call, int status);

  Switches switches() const;
  void set_switches(const Switches& switches);
  // The GUIDs of the ports that UFM has seen, for Switches::accepts_unknown_guids.
  void set_known(std::set<ib::Guid> guids);

  void inject(Fault fault);
  void clear_faults();
  // A failover to a standby that has not got the last changes: takes back this many (of the last
  // 1000). Returns how many it took back.
  size_t lose_writes(size_t count);

  // Without a call, a fault or an entry in the log: for a judge, and for an initial state.
  Partitions partitions() const;
  void set_partitions(Partitions partitions);  // kManagement is added if it is missing
  GuidGroups groups() const;

  std::vector<LogEntry> log() const;
  void clear_log();

  // Grows with each change of the partitions, also by lose_writes() and set_partitions().
  uint64_t generation() const;
  // Partitions and their generation, as one.
  std::pair<uint64_t, Partitions> snapshot() const;
  // Empty if nothing has changed since the start.
  std::optional<Time> last_updated() const;
  // Called after each change, by the thread that makes it, which holds the lock of the model: so it
  // must not call the model. Empty: none.
  void set_listener(std::function<void()> listener);

 private:
  // `groups`: of a call about groups, with the last ID; else `before` is of the partition.
  struct Undo {
    ib::PKey pkey;
    std::optional<Partition> before;
    std::optional<GuidMappings> groups = {};
  };
  Outcome change_groups(const Call& call);
  Outcome apply_to(const Call& call, Partitions& partitions, GuidMappings& groups) const;
  Outcome carry_out(const Call& call, const std::optional<Fault>& fault);
  void push(Undo undo);
  std::optional<Partition> find(ib::PKey pkey) const;
  void note_change();

  Clock clock_;
  mutable std::mutex mutex_;
  Switches switches_;
  std::set<ib::Guid> known_;
  Partitions partitions_;
  GuidMappings groups_;
  std::deque<Undo> undo_;
  std::vector<LogEntry> log_;
  FaultQueue faults_;
  uint64_t generation_ = 0;
  std::optional<Time> last_updated_;
  std::function<void()> listener_;
};

}  // namespace ibpod::fake_ufm
