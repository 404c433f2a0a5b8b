#include "lib/nl/notifications.h"

#include "lib/nl/rdma.h"
#include "lib/nl/rtnl.h"
#include "lib/nl/socket.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

namespace ibpod::nl {
namespace {

// Hands over the type and the payload of each message of a datagram. False: one is cut.
bool each_message(Bytes datagram, const std::function<void(uint16_t, Bytes)>& each) {
  while (!datagram.empty()) {
    nlmsghdr header{};
    if (datagram.size() < sizeof header) return false;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) return false;
    each(header.nlmsg_type, datagram.subspan(NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN));
    datagram = datagram.subspan(std::min<size_t>(NLMSG_ALIGN(header.nlmsg_len), datagram.size()));
  }
  return true;
}

}  // namespace

// "add@/devices/…", a NUL, and the variables, which say the same once more.
std::optional<std::string> parse_uevent(Bytes datagram) {
  const std::string_view text(reinterpret_cast<const char*>(datagram.data()), datagram.size());
  const std::string_view line = text.substr(0, text.find('\0'));
  const size_t at = line.find('@');
  if (line.size() == text.size() || at == line.npos || !line.substr(at + 1).starts_with('/'))
    return std::nullopt;
  return std::string(line.substr(at + 1));
}

bool parse_link_notification(Bytes datagram, std::set<std::string>& names) {
  bool told = true;
  const bool whole = each_message(datagram, [&](uint16_t type, Bytes payload) {
    if (type != RTM_NEWLINK && type != RTM_DELLINK) return;
    const Result<Link> link = parse_link(payload);
    told = told && link.ok();
    if (link) names.insert(link->name);
  });
  return whole && told;
}

bool parse_rdma_notification(Bytes datagram, std::set<std::string>& names) {
  bool told = true;
  const bool whole = each_message(datagram, [&](uint16_t, Bytes payload) {
    const Result<RdmaDevice> device = parse_rdma_device(payload);
    told = told && device.ok();
    if (device) names.insert(device->name);
  });
  return whole && told;
}

bool take_device_paths(Uevents& uevents, std::set<std::string>& paths) {
  bool told = true;
  const bool all = uevents.take([&](Bytes datagram) {
    const std::optional<std::string> path = parse_uevent(datagram);
    told = told && path.has_value();
    if (path) paths.insert(*path);
  });
  return all && told;
}

bool take_link_names(Socket& socket, std::set<std::string>& names) {
  bool told = true;
  const bool all =
      socket.take([&](Bytes datagram) { told = parse_link_notification(datagram, names) && told; });
  return all && told;
}

bool take_rdma_names(Socket& socket, std::set<std::string>& names) {
  bool told = true;
  const bool all =
      socket.take([&](Bytes datagram) { told = parse_rdma_notification(datagram, names) && told; });
  return all && told;
}

}  // namespace ibpod::nl
