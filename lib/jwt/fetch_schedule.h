// FetchSchedule: when an issuer's keys are fetched next.
#pragma once

#include "lib/base/back_off.h"
#include "lib/base/clock.h"

#include <functional>

namespace ibpod::jwt {

class FetchSchedule {
 public:
  using Time = Deadline::Clock::time_point;
  struct Settings {
    Duration interval{300'000};  // after a success; with jitter
    // From a success to the next fetch, if a key is missing: any caller can name one.
    Duration spacing{10'000};
    BackOff pauses{Duration(1000), Duration(60'000)};  // after failures; with jitter
  };
  // The first fetch is due at `start`. `random`: numbers from 0 to 1.
  FetchSchedule(const Settings& settings, Time start, std::function<double()> random);

  Time due() const { return due_; }
  // A fetch has ended.
  void succeeded(Time now);
  void failed(Time now);
  // The next fetch is due earlier, but not while the server fails: then the pauses decide.
  void key_missing();

 private:
  Settings settings_;
  std::function<double()> random_;
  Time due_;
  Time earliest_;  // of a fetch for a missing key
};

}  // namespace ibpod::jwt
