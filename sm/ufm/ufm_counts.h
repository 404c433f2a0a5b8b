// UfmCounts: what the engine has done in UFM and found there, for metrics. Since its start, unless
// the comment says otherwise.
#pragma once

#include "lib/base/clock.h"

#include <cstdint>

namespace ibpod::sm::ufm {

struct UfmCounts {
  uint64_t additions = 0;   // members in calls to add that UFM has accepted
  uint64_t removals = 0;    // members in calls to remove that UFM has accepted
  uint64_t refused = 0;     // calls that UFM has refused
  uint64_t failed = 0;      // calls without an answer, or not permitted
  uint64_t ignored = 0;     // members that UFM has accepted, and then not shown as asked
  uint64_t widened = 0;     // members shown as full ones although limited was asked for
  uint64_t foreign = 0;     // now: members of our partitions that ibpod-sm did not put there
  uint64_t scans = 0;       // readings of all partitions
  uint64_t reconciled = 0;  // times that UFM had all that was desired
  // From apply() until UFM had all of the version: of the last version, and the sum of all that
  // were not overtaken by a later one.
  Duration time_to_accepted{};
  Duration sum_to_accepted{};
  // Now: VFs of bindings whose GUID UFM accepts only behind their PF, as last read, and the others.
  // Both are 0 without EngineSettings::map_vfs.
  uint64_t confined_vfs = 0;
  uint64_t unconfined_vfs = 0;
  bool operator==(const UfmCounts&) const = default;
};

}  // namespace ibpod::sm::ufm
