// AddressReleaser: has IPAM take back what it is owed after an attachment's end, where the
// runtime's DEL does not come again.
#pragma once

#include "agent/gc/gc_deps.h"
#include "agent/gc/gc_run.h"

#include <map>

namespace ibpod::agent::gc {

class AddressReleaser {
 public:
  using Time = Deadline::Clock::time_point;
  // The first attempt waits, because the DEL that left the note may just be calling IPAM; after
  // each failure the wait doubles.
  static constexpr Duration kFirstPause{5'000};
  // After an IPAM that failed.
  static constexpr Duration kMinRetryDelay{1'000};

  // Comes last in a pass, and ends with the first IPAM that fails: a tenant's network may name one
  // that hangs, and devices wait for nothing of that. Who has waited longest is next.
  void run(const GcDeps& deps, Time now, Duration longest_pause, GcRun& gc_run);
  void reset_pauses();

 private:
  struct Retry {
    Duration pause;
    Time not_before;
    std::string failure = {};
  };
  std::vector<node::AddressReleaseName> by_due_time(std::vector<node::AddressReleaseName> names,
                                                    Time now);
  AddressRelease release(const GcDeps& deps, const node::AddressReleaseName& name);

  std::map<node::AddressReleaseName, Retry> retries_;
};

}  // namespace ibpod::agent::gc
