// FolderWatch: reports changes of folders, by inotify.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <vector>

namespace ibpod {

class FolderWatch {
 public:
  enum class Changes {
    entries,  // an entry was created, removed or renamed, or the folder removed or moved
    files,    // the same, or a file was closed after writing
    writes,   // the same, or a file was written
  };
  static Result<FolderWatch> open(const Path& folder, Changes changes = Changes::files);
  // Watches the folders of these files, which need not exist, for Changes::writes.
  static Result<FolderWatch> of_files(const std::vector<Path>& files);

  // Watches another folder too. A folder that is watched already stays so.
  Status add(const Path& folder);
  // Waits for a change since open() or the last call. False if the deadline passed without one.
  Result<bool> wait(Deadline deadline);
  // Readable after a change, for callers that wait for other descriptors too.
  int fd() const { return fd_.get(); }
  // Discards what has arrived: what is read after this call is as new as the changes so far.
  void drain() const;

 private:
  FolderWatch(Fd fd, Changes changes) : fd_(std::move(fd)), changes_(changes) {}
  static Result<FolderWatch> make(Changes changes);
  Fd fd_;
  Changes changes_;
};

}  // namespace ibpod
