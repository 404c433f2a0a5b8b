// OncePerMinute: which of many like events leave a line in the log.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace ibpod::sm {

class OncePerMinute {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Whether this one does: how many like it have not since the last line. Of more than a thousand
  // kinds within a minute the further ones leave none.
  std::optional<size_t> due(const std::string& kind, Time now);

 private:
  struct Kind {
    Time next;
    size_t since = 0;
  };
  std::map<std::string, Kind> kinds_;
};

}  // namespace ibpod::sm
