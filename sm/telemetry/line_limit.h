// LineLimit: limits the log lines per second that one caller, and all callers together, can cause.
// Lines beyond the limit are counted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ibpod::sm::telemetry {

class LineLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kWindow{1};

  struct Settings {
    size_t lines = 10;      // of one caller, in each window
    size_t callers = 1024;  // with their own account; all others share one
    size_t total = 100;     // of all callers, in each window
    size_t names = 16;      // callers that one take_dropped() names; all others share one
  };
  LineLimit() = default;
  explicit LineLimit(Settings settings) : settings_(settings) {}

  // True if a line that this caller has caused may be written.
  bool take(const std::string& caller, Time now);

  struct Dropped {
    std::string caller;  // empty: several callers
    uint64_t lines = 0;
    bool operator==(const Dropped&) const = default;
  };
  // The lines that were not written in past windows; each is reported once.
  std::vector<Dropped> take_dropped(Time now);

 private:
  struct Account {
    Time since;
    size_t lines = 0;
    uint64_t dropped = 0;
    bool take(size_t most, Time now);
  };
  Account& account(const std::string& caller, Time now);

  Settings settings_;
  std::map<std::string, Account> accounts_;
  Account total_{};
};

}  // namespace ibpod::sm::telemetry
