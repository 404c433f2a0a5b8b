// SmallDisk: a disk of a few megabytes in place of a folder, that a test fills and empties again.
#pragma once

#include "lib/base/files.h"

#include <cstddef>

namespace ibpod {

class SmallDisk {
 public:
  // Mounted for this thread and the processes that it starts from now on.
  explicit SmallDisk(Path folder);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  SmallDisk(SmallDisk&&) = delete;
  SmallDisk& operator=(SmallDisk&&) = delete;

  // True if this process may mount at all.
  bool mounted() const { return mounted_; }
  // Until there is room for so many pages of 4,096 bytes.
  void fill(size_t pages_left) const;
  void empty() const;

 private:
  Path folder_;
  bool mounted_ = false;
};

}  // namespace ibpod
