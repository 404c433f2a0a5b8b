// ScanPlan: when the subnet is surveyed, and when all its tables are read. It decides and does
// nothing; the time is told.
#pragma once

#include "sm/probe/probe_result.h"

#include <algorithm>
#include <optional>

namespace ibpod::sm::probe {

struct ScanPace {
  Duration every{60000};  // from the end of one scan to the next
  // After a scan that has not seen everything; as long as that stays so, each time after twice as
  // long, up to `every`.
  Duration partial{1000};
  // From one survey to the next, and not less than five times what the last one has taken. Where
  // it found nothing new, each time after twice as long, up to `most_between`.
  Duration between{250};
  Duration most_between{5000};
};

class ScanPlan {
 public:
  using Time = ProbeBatch::Time;
  enum class Work { discovery, scan };  // a scan begins with a survey

  ScanPlan(const ScanPace& pace, Time now)
      : pace_(pace), scan_at_(now), partial_(pace.partial), pause_(pace.between) {}

  // A whole scan now, and once more if one is under way.
  void rescan(Time now);
  // A survey as soon as may be: something has changed there.
  void changed();
  // The same for a port that was not there: the longer it is not, the rarer.
  void port_missing() { discovery_wanted_ = true; }

  // Returns the work that is due now, and marks it as under way.
  std::optional<Work> take_due(Time now);
  bool under_way() const { return under_way_.has_value(); }
  // The survey has ended, alone or as the beginning of a scan. `news`: it found another subnet
  // than the last one did.
  void discovered(Time begun, Time now, bool news);
  // The tables have been read, too.
  void scanned(Time begun, Time now, bool everything);
  std::optional<Time> next() const;

 private:
  Time discovery_from() const;
  ScanPace pace_;
  std::optional<Work> under_way_;
  bool once_more_ = false;
  bool discovery_wanted_ = false;
  Time scan_at_;
  std::optional<Time> last_discovery_began_;  // when the last survey began
  Time::duration discovery_took_{};
  Duration partial_;
  Duration pause_;
};

}  // namespace ibpod::sm::probe
