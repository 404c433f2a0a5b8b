// Kernel uevents: a device has changed.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/nl/socket.h"

#include <functional>

namespace ibpod::nl {

// A subscription to NETLINK_KOBJECT_UEVENT (the kernel's group) of the calling thread's namespace.
class Uevents {
 public:
  static Result<Uevents> open();
  int fd() const { return fd_.get(); }
  // Discards what has arrived: a waiter reads the device itself, never the event.
  void discard_pending();
  // Passes each event that has arrived to `each`. False if some were lost (notifications.h parses
  // them).
  bool take(const std::function<void(Bytes)>& each);

 private:
  explicit Uevents(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace ibpod::nl
