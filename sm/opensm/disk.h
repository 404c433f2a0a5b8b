// Disk: the file operations of the engine. A seam: tests make any of them fail, stop halfway, or be
// the last before the process ends.
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
  // Exchanges two existing files in one step. False if the file system cannot do that; then nothing
  // was changed.
  virtual Result<bool> exchange(const Path& one, const Path& other);
};

}  // namespace ibpod::sm::opensm
