// Wake: lets one thread wake another that waits in poll().
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

namespace ibpod {

class Wake {
 public:
  static Result<Wake> open();
  // From any thread. Several calls before the next drain() count once.
  void ring() const;
  // Readable after ring().
  int fd() const { return fd_.get(); }
  // Resets it.
  void drain() const;

 private:
  explicit Wake(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod
