// FileVersion: tells whether a file has been replaced or changed, without reading it.
#pragma once

#include "lib/base/files.h"

#include <cstdint>
#include <optional>

namespace ibpod {

// As stat(2) shows the file that a path leads to, through the links of a Secret's mount. The time
// is that of the last change of the inode: no program can set it back.
struct FileVersion {
  uint64_t device, inode;
  int64_t size, changed_s, changed_ns;
  bool operator==(const FileVersion&) const = default;
};

// Nothing if no file is there, or none can be seen.
std::optional<FileVersion> file_version(const Path& path);

}  // namespace ibpod
