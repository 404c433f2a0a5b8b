// A kernel event about a device that only a test has: root may have the kernel announce any.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"

#include <cstring>
#include <string>

#include <linux/netlink.h>
#include <sys/socket.h>

namespace ibpod {

// To whoever listens in this network namespace (lib/kobject_uevent.c, uevent_net_broadcast).
// `path`: below /sys, "/devices/pci0000:10/…". denied without CAP_SYS_ADMIN.
inline Status announce_device(const std::string& path) {
  const Fd fd(TRY(sys("open a uevent socket", [] {
    return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
  })));
  const std::string event =
      "change@" + path + '\0' + "ACTION=change" + '\0' + "DEVPATH=" + path + '\0';
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(NLMSG_LENGTH(event.size()));
  header.nlmsg_type = NLMSG_MIN_TYPE;
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  std::string message(NLMSG_ALIGN(header.nlmsg_len), '\0');
  std::memcpy(message.data(), &header, sizeof header);
  std::memcpy(message.data() + NLMSG_HDRLEN, event.data(), event.size());
  TRY(sys("send a uevent", [&] { return ::send(fd.get(), message.data(), message.size(), 0); }));
  char answer[256];
  TRY(sys("receive an acknowledgement",
          [&] { return ::recv(fd.get(), answer, sizeof answer, 0); }));
  nlmsgerr said{};
  std::memcpy(&said, answer + NLMSG_HDRLEN, sizeof said);
  if (said.error != 0) return Error::from_errno(-said.error, "announce " + path);
  return ok();
}

}  // namespace ibpod
