#include "sm/opensm/file_change_detector.h"

#include <sys/stat.h>

namespace ibpod::sm::opensm {

bool FileChangeDetector::changed(Time now) {
  struct stat found = {};
  Stamp stamp;
  if (::stat(path_.c_str(), &found) == 0) {
    stamp = {found.st_ino, found.st_size,
             found.st_ctim.tv_sec * 1000000000 + found.st_ctim.tv_nsec};
  }
  if (seen_ == stamp) return false;
  // A second change within one tick of the kernel's clock would not change the time stamp.
  constexpr std::chrono::milliseconds kTick{50};
  const auto age = now.time_since_epoch() - std::chrono::nanoseconds(stamp.changed);
  seen_ = age > kTick ? std::optional(stamp) : std::nullopt;
  return true;
}

}  // namespace ibpod::sm::opensm
