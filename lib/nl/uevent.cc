#include "lib/nl/uevent.h"

#include "lib/nl/socket.h"

#include <linux/netlink.h>
#include <sys/socket.h>

namespace ibpod::nl {
namespace {

// Group 1 is the kernel's own; group 2 is udev's and carries its private format.
constexpr uint32_t kKernelGroup = 1;

}  // namespace

Result<Uevents> Uevents::open() {
  Fd fd(TRY(sys("open a uevent socket", [&] {
    return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
  })));
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  own.nl_groups = kKernelGroup;
  TRY(sys("bind a uevent socket",
          [&] { return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own); }));
  return Uevents(std::move(fd));
}

void Uevents::discard_pending() { discard_datagrams(fd_); }

bool Uevents::take(const std::function<void(Bytes)>& each) { return take_datagrams(fd_, each); }

}  // namespace ibpod::nl
