// Kernel uevents: that something about a device has changed.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/nl/socket.h"

#include <functional>

namespace ibpod::nl {

// A subscription to NETLINK_KOBJECT_UEVENT (the kernel's own group) of the calling thread's
// namespace.
class Uevents {
 public:
  static Result<Uevents> open();
  int fd() const { return fd_.get(); }
  // Throws away what has arrived: a waiter looks at the device itself, never at the event.
  void discard_pending();
  // Hands over each event that has arrived. False: some were lost (news.h reads them).
  bool take(const std::function<void(Bytes)>& each);

 private:
  explicit Uevents(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod::nl
