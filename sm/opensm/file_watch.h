// FileWatch: reports changes of files. The files need not exist, but their folders must.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <vector>

namespace ibpod::sm::opensm {

class FileWatch {
 public:
  static Result<FileWatch> open(const std::vector<Path>& files);

  // Readable after a change in the folder of a file.
  int fd() const { return fd_.get(); }
  // Discards the changes so far. A file read afterwards is at least as new as they are.
  void drain() const;

 private:
  explicit FileWatch(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod::sm::opensm
