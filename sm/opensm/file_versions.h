// FileVersions: which version is wanted, which one is in OpenSM's file, and which one OpenSM has
// read. swept() <= placed() <= wanted(), whatever happens to the file.
#pragma once

#include <cstdint>

namespace ibpod::sm::opensm {

class FileVersions {
 public:
  void want(uint64_t version);
  uint64_t wanted() const { return wanted_; }
  // True if a version is wanted that is not in the file.
  bool waits() const { return wanted_ > written_; }
  // True if it has waited for a whole sweep.
  bool waited() const { return begun_ >= 2; }

  // The version was written to the file, or the last one again.
  void write(uint64_t version);
  void restore() { file_ = File::ours; }
  // The file in place is another one. False if that was known.
  bool find_foreign();
  // OpenSM has discarded the file, so every port is a full member of the default partition.
  void discard();
  // True if our file is in place, and OpenSM has not discarded it since it was written.
  bool ours() const { return file_ == File::ours; }

  // A sweep begins. A version that waits may have to wait until its end.
  void note_begin();
  // No sweep is running that began before the file was in place.
  void place();
  // The sweep that read the version in place is over.
  void note_swept();
  // OpenSM may read, or have read, something else than swept() says.
  void invalidate_swept() { swept_ = 0; }
  // OpenSM has ended.
  void note_end() { placed_at_end_ = placed_; }
  // OpenSM was running already. A sweep may have begun at any time since the last OpenSM ended,
  // and be `running` still.
  void adopt(bool running);

  // As in EngineStatus.
  uint64_t placed() const { return placed_; }
  uint64_t swept() const { return swept_; }
  // True if OpenSM has discarded the file, and not read a good one since.
  bool discarded() const { return discarded_; }

 private:
  enum class File {
    ours,
    to_restore,  // OpenSM has discarded it
    foreign,     // one that is not ours is in place
  };

  uint64_t wanted_ = 0;
  uint64_t written_ = 0;
  uint64_t placed_ = 0;
  uint64_t swept_ = 0;
  uint64_t placed_at_end_ = 0;  // when the last OpenSM ended
  int begun_ = 0;               // sweeps since the oldest waiting version was wanted
  File file_ = File::ours;
  bool discarded_ = false;
};

}  // namespace ibpod::sm::opensm
