// Disk: the steps in which files of the engine are written. A seam: in tests any of them fails, is
// torn, or is the last one before the end.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <string>
#include <string_view>

namespace ibpod::sm::opensm {

class Disk {
 public:
  Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  Disk(Disk&&) = delete;
  Disk& operator=(Disk&&) = delete;
  virtual ~Disk() = default;

  // As ibpod::read_file, write_file_atomically and replace_file.
  virtual Result<std::string> read(const Path& path);
  virtual Status write(const Path& path, std::string_view content);
  virtual Status replace(const Path& from, const Path& to);
  // Each takes the other's place, in one step; both are there. False: the file system cannot do
  // that, and nothing was done.
  virtual Result<bool> exchange(const Path& one, const Path& other);
};

}  // namespace ibpod::sm::opensm
