// Reconciler: makes UFM have the partitions that are desired. It reads them, makes the calls that
// are missing, one at a time, and reads again what it has changed: only what UFM shows is in place.
// What comes while a call runs goes together into the next one.
#pragma once

#include "sm/ufm/connection.h"
#include "sm/ufm/partition_states.h"
#include "sm/ufm/placements.h"
#include "sm/ufm/settings.h"
#include "sm/ufm/ufm_api.h"
#include "sm/ufm/ufm_counts.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::ufm {

class Reconciler {
 public:
  using Time = Deadline::Clock::time_point;
  struct Deps {
    UfmApi& api;  // outlives it
    WrittenMembers written;
    std::function<double()> random;  // from 0 to 1, see Connection
  };
  Reconciler(Deps deps, const EngineSettings& settings);

  // The version that is desired from now on; above the last one. Until the first one, no call is
  // made.
  void want(uint64_t version, const std::vector<fabric::PartitionDefinition>& definitions,
            Time now);
  // Makes one call at most. True if there may be more to do at once; false: not before alarm(),
  // unless want() is called. `now`: the present time, read again for each call of tick().
  bool tick(Time now);
  // The first time after `now` at which there is something to do; nothing: never. If `now` is not
  // after the last tick(), nothing that has become due since then is lost.
  std::optional<Time> alarm(Time now) const;

  // As of the last tick().
  engine::EngineStatus status(Time now) const;
  UfmCounts counts() const;
  const PartitionStates& states() const { return states_; }

 private:
  struct Version {
    uint64_t number = 0;  // 0: none
    std::shared_ptr<const DesiredPartitions> partitions = {};
    Time since{};
  };
  // Our own fault, which keeps calls from being made.
  struct Fault {
    std::string text;
    Time retry{};
  };
  bool scan(Time now);
  bool read(ib::PKey pkey, Time now);
  bool take(const Step& step, Time now);
  bool has_other_master() const;
  void note_failure(Connection::Use use, const Error& error, Time now);
  void note_lost(bool lost);
  void note_in_place(Time now);

  UfmApi& api_;
  Duration read_interval_;
  pool::PKeyPool pkeys_;
  PartitionStates states_;
  Connection connection_;
  Placements placements_;
  // `candidate_` is compared with what UFM shows, until it is in place: later versions may come
  // faster than calls end.
  Version newest_, candidate_;
  std::optional<Fault> fault_;
  Time next_scan_{};
  uint64_t generation_ = 0;  // UfmApi::master_generation() of what was read
  size_t steps_ = 0;         // since a partition was read
  struct Totals {
    uint64_t losses = 0;
    uint64_t reconciled = 0;
    uint64_t accepted = 0;  // the last version that was in place
    Duration last{}, sum{};
  } totals_;
};

}  // namespace ibpod::sm::ufm
