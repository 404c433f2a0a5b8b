// FileWatch: tells when files change, wherever they are; they need not exist, their folders must.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <vector>

namespace ibpod::sm::opensm {

class FileWatch {
 public:
  static Result<FileWatch> open(const std::vector<Path>& files);

  // Readable when something has happened in the folder of a file.
  int fd() const { return fd_.get(); }
  // Takes what has happened so far: what is read of a file behind this call is as new as that.
  void drain() const;

 private:
  explicit FileWatch(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod::sm::opensm
