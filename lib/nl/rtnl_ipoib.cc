#include "lib/nl/rtnl.h"
#include "lib/nl/rtnl_messages.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace ibpod::nl {
namespace {

constexpr int kModeAttempts = 8;

Status set_alias(Socket& socket, IfIndex link, const std::string& alias) {
  Message message = link_message("set the alias of " + words(link) + " to \"" + alias + "\"",
                                 RTM_SETLINK, 0, link);
  message.text(IFLA_IFALIAS, alias);
  return socket.send(message);
}

}  // namespace

bool is_ipoib_child(const Link& child, const Link& parent) {
  const std::optional<ib::Guid> port = guid_of(parent.address);
  return child.kind == "ipoib" && child.parent == parent.index && port &&
         guid_of(child.address) == port;
}

Message encode_create_child(IfIndex parent, const NewChild& child) {
  Message message = link_message(
      "create " + child.name + " with the P_Key " + child.pkey.text() + " on " + words(parent),
      RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, child.index);
  message.text(IFLA_IFNAME, child.name).u32(IFLA_LINK, static_cast<uint32_t>(parent));
  message.open(IFLA_LINKINFO).text(IFLA_INFO_KIND, "ipoib").open(IFLA_INFO_DATA);
  message.u16(IFLA_IPOIB_PKEY, child.pkey.value());
  message.u16(IFLA_IPOIB_UMCAST, child.umcast ? 1 : 0);
  message.close().close();
  return message;
}

Status create_child(Socket& socket, IfIndex parent, const NewChild& child) {
  TRY(check_link_name(child.name));
  TRY(socket.send(encode_create_child(parent, child)));
  // By the index: udev, or another program that watches for new links, may have changed the name.
  return set_alias(socket, child.index, child.alias);
}

Status set_ipoib(Socket& socket, IfIndex link, IpoibMode mode, bool umcast) {
  // Only RTM_NEWLINK reads a link's own settings.
  Message message = link_message("set the IPoIB mode of " + words(link), RTM_NEWLINK, 0, link);
  message.open(IFLA_LINKINFO).text(IFLA_INFO_KIND, "ipoib").open(IFLA_INFO_DATA);
  message.u16(IFLA_IPOIB_MODE, static_cast<uint16_t>(mode));
  message.u16(IFLA_IPOIB_UMCAST, umcast ? 1 : 0);
  message.close().close();
  // EBUSY: another thread had RTNL when ipoib_set_mode() wanted it back. The mode is set by then
  // and umcast is not, so the next attempt does not drop RTNL. It waits for RTNL inside the kernel:
  // no pause is needed here.
  Status set = socket.send(message);
  for (int i = 1; i < kModeAttempts && !set && set.error().error_number() == EBUSY; ++i)
    set = socket.send(message);
  return set;
}

}  // namespace ibpod::nl
