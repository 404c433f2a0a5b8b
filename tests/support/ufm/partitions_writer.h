// PartitionsWriter: what a UFM does after it has answered: it writes its partitions for its OpenSM,
// after a delay or never, and makes OpenSM read them. Only then they are in force.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "tests/support/ufm/ufm_model.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace ibpod::fake_ufm {

// From a change to the file, for all that has changed until then. Empty: the file stays as it is.
using EffectDelay = std::optional<Duration>;

class PartitionsWriter {
 public:
  struct Target {
    Path partitions;  // partitions.conf
    Path pid_file;    // of OpenSM, which gets SIGHUP; empty or missing: there is no OpenSM yet
  };

  // Writes the file at once, and then as `ufm` changes, which must outlive it.
  static Result<std::unique_ptr<PartitionsWriter>> start(UfmModel& ufm, Target target,
                                                         EffectDelay delay,
                                                         ib::Membership default_membership);
  ~PartitionsWriter();
  PartitionsWriter(const PartitionsWriter&) = delete;
  PartitionsWriter& operator=(const PartitionsWriter&) = delete;

  // Also for a change that waits: its delay begins again.
  void set_delay(EffectDelay delay);
  // Takes effect with the next writing.
  void set_default_membership(ib::Membership membership);

  // The generation of the model that is in the file.
  uint64_t written() const;
  // Waits until written() has reached `generation`. False if the deadline has passed.
  bool wait_written(uint64_t generation, Deadline deadline) const;
  // The last failure to write the file or to reach OpenSM; ok if there was none.
  Status status() const;

 private:
  PartitionsWriter(UfmModel& ufm, Target target, EffectDelay delay, ib::Membership membership);
  void run();
  void note_change();
  Status write(ib::Membership membership);

  UfmModel& ufm_;
  const Target target_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  EffectDelay delay_;
  ib::Membership default_membership_;
  std::optional<Deadline::Clock::time_point> since_;  // of the change that waits
  uint64_t written_ = 0;
  Status status_ = ok();
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ibpod::fake_ufm
