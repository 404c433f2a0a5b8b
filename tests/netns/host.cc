#include "tests/netns/host.h"

#include <optional>
#include <thread>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <sched.h>

namespace ibpod {

netns::NetNs fresh_namespace() {
  std::optional<netns::NetNs> made;
  std::thread([&] {
    if (::unshare(CLONE_NEWNET) == 0) made = netns::NetNs::current().value();
  }).join();
  return std::move(made.value());
}

void add_pair(nl::Socket& socket) {
  nl::Message message("add a pair of links", RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.header(ifinfomsg{}).text(IFLA_IFNAME, "host0");
  message.open(IFLA_LINKINFO).text(IFLA_INFO_KIND, "veth").open(IFLA_INFO_DATA);
  message.open(VETH_INFO_PEER).header(ifinfomsg{}).text(IFLA_IFNAME, "host1").close();
  message.close().close();
  socket.send(message).value();
}

nl::Link link_named(nl::Socket& socket, const std::string& name) {
  return nl::find_link(socket, name).value().value();
}

bool there(nl::Socket& socket, const std::string& name) {
  return nl::find_link(socket, name).value().has_value();
}

}  // namespace ibpod
