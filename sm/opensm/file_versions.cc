#include "sm/opensm/file_versions.h"

#include <algorithm>

namespace ibpod::sm::opensm {

void FileVersions::want(uint64_t version) {
  if (!waits()) begun_ = 0;
  wanted_ = std::max(wanted_, version);
}

void FileVersions::write(uint64_t version) {
  written_ = version;
  begun_ = 0;
  file_ = File::ours;
}

bool FileVersions::find_foreign() {
  const bool found = file_ != File::foreign;
  file_ = File::foreign;
  placed_ = swept_ = 0;
  return found;
}

void FileVersions::discard() {
  discarded_ = true;
  swept_ = 0;
  if (ours()) file_ = File::to_restore;
}

void FileVersions::note_begin() {
  if (waits()) ++begun_;
}

void FileVersions::place() {
  if (file_ != File::foreign) placed_ = written_;
}

void FileVersions::note_swept() {
  swept_ = placed_;
  discarded_ = false;
}

void FileVersions::adopt(bool running) {
  if (running) placed_ = std::min(placed_, placed_at_end_);
  swept_ = std::min(swept_, placed_);
}

}  // namespace ibpod::sm::opensm
