// Parses the notifications of a subscribed socket. They name devices that may have changed, never
// their state: callers read the device itself.
#pragma once

#include "lib/nl/socket.h"
#include "lib/nl/uevent.h"

#include <optional>
#include <set>
#include <string>

namespace ibpod::nl {

// Each reads what has arrived and adds the names in it. False if some are unknown or were lost.
// || The devices' paths below /sys: "/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.2/net/ib0".
bool take_device_paths(Uevents& uevents, std::set<std::string>& paths);
// The names of links (Socket::subscribe_to_links). Notifications of addresses add none.
bool take_link_names(Socket& socket, std::set<std::string>& names);
// The names of RDMA devices (Socket::subscribe_to_rdma_devices).
bool take_rdma_names(Socket& socket, std::set<std::string>& names);

// Codecs, for one datagram.
std::optional<std::string> parse_uevent(Bytes datagram);
bool parse_link_notification(Bytes datagram, std::set<std::string>& names);
bool parse_rdma_notification(Bytes datagram, std::set<std::string>& names);

}  // namespace ibpod::nl
