// ScanPlan: decides when the subnet is discovered, and when all its tables are read. The caller
// passes the time and does the work.
#pragma once

#include "lib/base/back_off.h"
#include "sm/probe/probe_result.h"

#include <algorithm>
#include <optional>

namespace ibpod::sm::probe {

struct ScanPace {
  Duration every{60000};  // from the end of one scan to the next
  // After an incomplete scan; doubles with each further one, up to `every`.
  Duration partial{1000};
  // The interval of discoveries, and at least five times what the last one took. Doubles, up to
  // `most_between`, while they find no change.
  Duration between{250};
  Duration most_between{5000};
};

class ScanPlan {
 public:
  using Time = ProbeBatch::Time;
  enum class Work { discovery, scan };  // a scan begins with a discovery

  ScanPlan(const ScanPace& pace, Time now)
      : pace_(pace),
        scan_at_(now),
        partial_(pace.partial, pace.every),
        between_(pace.between, std::max(pace.between, pace.most_between)) {}

  // Starts a full scan now, and another one if one is under way.
  void rescan(Time now);
  // Requests a discovery as soon as possible, after a change.
  void changed();
  // Requests a discovery for a missing port; the interval grows while they find no change.
  void port_missing() { discovery_wanted_ = true; }

  // Returns the work that is due now, and marks it as under way.
  std::optional<Work> take_due(Time now);
  bool under_way() const { return under_way_.has_value(); }
  // A discovery has ended, by itself or as the beginning of a scan. `news`: its topology differs
  // from the last one.
  void discovered(Time begun, Time now, bool news);
  // The tables have been read, too: the scan has ended.
  void scanned(Time begun, Time now, bool everything);
  std::optional<Time> next() const;

 private:
  Time discovery_from() const;
  ScanPace pace_;
  std::optional<Work> under_way_;
  bool once_more_ = false;
  bool discovery_wanted_ = false;
  Time scan_at_;
  std::optional<Time> last_discovery_began_;  // start of the last discovery
  Time::duration discovery_took_{};
  BackOff partial_;
  BackOff between_;
};

}  // namespace ibpod::sm::probe
