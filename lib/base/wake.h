// Wake: what one thread rings to wake another that waits in poll().
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

namespace ibpod {

class Wake {
 public:
  static Result<Wake> open();
  // From any thread. Rings before the next drain() count once.
  void ring() const;
  // Readable once rung.
  int fd() const { return fd_.get(); }
  // Takes the rings so far.
  void drain() const;

 private:
  explicit Wake(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod
