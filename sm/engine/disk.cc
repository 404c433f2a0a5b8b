#include "sm/engine/disk.h"

namespace ibpod::sm {
namespace {

// 200,000 members, one a line.
constexpr size_t kMostFile = 16 << 20;

}  // namespace

Result<std::string> Disk::read(const Path& path) { return read_file(path, kMostFile); }

Status Disk::write(const Path& path, std::string_view content) {
  return write_file_atomically(path, content);
}

Status Disk::replace(const Path& from, const Path& to) { return replace_file(from, to); }

}  // namespace ibpod::sm
