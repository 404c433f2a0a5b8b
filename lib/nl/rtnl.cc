#include "lib/nl/rtnl.h"

#include "lib/base/join.h"
#include "lib/ib/hex.h"
#include "lib/nl/attributes.h"
#include "lib/nl/rtnl_messages.h"
#include "lib/nl/socket.h"

#include <algorithm>

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace ibpod::nl {
namespace {

constexpr size_t kIpoibAddressSize = 20;  // RFC 4391 section 9.1.1

HardwareAddress address_of(const Attribute& attribute) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(attribute.value.data());
  return HardwareAddress(bytes, bytes + attribute.value.size());
}

Status read_altnames(const Attribute& list, Link& link) {
  const auto found = TRY(attributes(list.value));
  for (const Attribute& attribute : found) {
    if (attribute.type == IFLA_ALT_IFNAME) link.altnames.push_back(text_of(attribute));
  }
  return ok();
}

Result<Ipoib> read_ipoib(Bytes data) {
  Ipoib ipoib;
  const auto found = TRY(attributes(data));
  for (const Attribute& attribute : found) {
    if (attribute.type < IFLA_IPOIB_PKEY || attribute.type > IFLA_IPOIB_UMCAST) continue;
    const uint16_t value = TRY(value_of<uint16_t>(attribute));
    if (attribute.type == IFLA_IPOIB_PKEY) ipoib.pkey = ib::PKey(value);
    if (attribute.type == IFLA_IPOIB_MODE) ipoib.mode = IpoibMode{value};
    if (attribute.type == IFLA_IPOIB_UMCAST) ipoib.umcast = value != 0;
  }
  return ipoib;
}

Status read_info(const Attribute& info, Link& link) {
  Bytes data;
  const auto found = TRY(attributes(info.value));
  for (const Attribute& attribute : found) {
    if (attribute.type == IFLA_INFO_KIND) link.kind = text_of(attribute);
    if (attribute.type == IFLA_INFO_DATA) data = attribute.value;
  }
  if (link.kind == "ipoib") link.ipoib = TRY(read_ipoib(data));
  return ok();
}

Status read_into(Link& link, const Attribute& attribute) {
  switch (attribute.type) {
    case IFLA_IFNAME:
      link.name = text_of(attribute);
      break;
    case IFLA_ADDRESS:
      link.address = address_of(attribute);
      break;
    case IFLA_BROADCAST:
      link.broadcast = address_of(attribute);
      break;
    case IFLA_IFALIAS:
      link.alias = text_of(attribute);
      break;
    case IFLA_MTU:
      link.mtu = TRY(value_of<uint32_t>(attribute));
      break;
    case IFLA_LINK:
      link.parent = TRY(value_of<IfIndex>(attribute));
      break;
    case IFLA_MASTER:
      link.master = TRY(value_of<IfIndex>(attribute));
      break;
    case IFLA_PROP_LIST:
      return read_altnames(attribute, link);
    case IFLA_LINKINFO:
      return read_info(attribute, link);
    default:
      break;
  }
  return ok();
}

Message question(std::string what, uint16_t flags, IfIndex index, uint32_t filter) {
  Message message = link_message(std::move(what), RTM_GETLINK, flags, index);
  message.u32(IFLA_EXT_MASK, filter);
  return message;
}

// The one link that the answer is about; nothing where the kernel knows none.
Result<std::optional<Link>> find(Socket& socket, const Message& message) {
  const Result<Link> link = get_one<Link>(socket, message, parse_link);
  if (link) return std::optional(*link);
  if (link.error().error_number() == ENODEV) return std::optional<Link>();
  return link.error();
}

Status check_altname(const std::string& altname) {
  if (!altname.empty() && altname.size() < ALTIFNAMSIZ && altname.find('\0') == altname.npos) {
    return ok();
  }
  return Error(
      Code::invalid,
      "\"" + altname + "\" is not an alternative name of a link: expected 1 to 127 characters");
}

Message altname_message(std::string what, uint16_t type, IfIndex link, const std::string& altname) {
  Message message = link_message(std::move(what), type, 0, link);
  message.open(IFLA_PROP_LIST).text(IFLA_ALT_IFNAME, altname).close();
  return message;
}

}  // namespace

std::string words(IfIndex link) { return "link " + std::to_string(static_cast<int32_t>(link)); }

Message link_message(std::string what, uint16_t type, uint16_t flags, IfIndex index) {
  Message message(std::move(what), type, flags);
  ifinfomsg header{};
  header.ifi_index = static_cast<int32_t>(index);
  message.header(header);
  return message;
}

Status check_link_name(const std::string& name) {
  constexpr std::string_view kForbidden("/:% \t\n\v\f\r\0", 10);
  if (!name.empty() && name.size() < IFNAMSIZ && name != "." && name != ".." &&
      name.find_first_of(kForbidden) == name.npos) {
    return ok();
  }
  return Error(Code::invalid,
               "\"" + name +
                   "\" is not a link name: expected 1 to 15 characters without \"/\", "
                   "\":\", \"%\" and space");
}

std::string text(const HardwareAddress& address) {
  return join(address, ":", [](uint8_t byte) { return ib::hex(byte, 2); });
}

std::optional<ib::Guid> guid_of(const HardwareAddress& address) {
  if (address.size() != kIpoibAddressSize) return std::nullopt;
  std::array<uint8_t, 8> guid{};
  std::copy(address.end() - guid.size(), address.end(), guid.begin());
  return ib::Guid::from_bytes(guid);
}

Result<Link> parse_link(Bytes payload) {
  const ifinfomsg header = TRY(take_header<ifinfomsg>(payload));
  Link link;
  link.index = IfIndex{header.ifi_index};
  link.type = header.ifi_type;
  link.up = (header.ifi_flags & IFF_UP) != 0;
  link.carrier = (header.ifi_flags & IFF_LOWER_UP) != 0;
  const auto found = TRY(attributes(payload));
  for (const Attribute& attribute : found) TRY(read_into(link, attribute));
  if (link.name.empty()) return Error(Code::invalid, "the message names no link");
  if (link.parent == link.index) link.parent.reset();
  return link;
}

Message encode_move(IfIndex link, const Fd& netns, const std::string& name) {
  const std::string as = name.empty() ? "" : " as " + name;
  Message message =
      link_message("move " + words(link) + " to another namespace" + as, RTM_SETLINK, 0, link);
  message.u32(IFLA_NET_NS_FD, static_cast<uint32_t>(netns.get()));
  if (!name.empty()) message.text(IFLA_IFNAME, name);
  return message;
}

Result<std::optional<Link>> find_link(Socket& socket, const std::string& name) {
  TRY(check_link_name(name));
  Message message = question("look for link " + name, 0, IfIndex{}, RTEXT_FILTER_SKIP_STATS);
  message.text(IFLA_IFNAME, name);
  return find(socket, message);
}

Result<std::optional<Link>> find_link(Socket& socket, IfIndex index) {
  return find(socket, question("look for " + words(index), 0, index, RTEXT_FILTER_SKIP_STATS));
}

Result<std::vector<Link>> links(Socket& socket) {
  const Message message =
      question("list the links", NLM_F_DUMP, IfIndex{}, RTEXT_FILTER_SKIP_STATS);
  return dump<Link>(socket, message, parse_link);
}

Status set_up(Socket& socket, IfIndex link, bool up) {
  Message message("set " + words(link) + (up ? " up" : " down"), RTM_SETLINK, 0);
  ifinfomsg header{};
  header.ifi_index = static_cast<int32_t>(link);
  header.ifi_flags = up ? IFF_UP : 0;
  header.ifi_change = IFF_UP;
  message.header(header);
  return socket.send(message);
}

Status set_mtu(Socket& socket, IfIndex link, uint32_t mtu) {
  Message message = link_message("set the MTU of " + words(link) + " to " + std::to_string(mtu),
                                 RTM_SETLINK, 0, link);
  message.u32(IFLA_MTU, mtu);
  return socket.send(message);
}

Status rename(Socket& socket, IfIndex link, const std::string& name) {
  TRY(check_link_name(name));
  Message message = link_message("rename " + words(link) + " to " + name, RTM_SETLINK, 0, link);
  message.text(IFLA_IFNAME, name);
  return socket.send(message);
}

Status add_altname(Socket& socket, IfIndex link, const std::string& altname) {
  TRY(check_altname(altname));
  return socket.send(altname_message("add the alternative name " + altname + " to " + words(link),
                                     RTM_NEWLINKPROP, link, altname));
}

Status remove_altname(Socket& socket, IfIndex link, const std::string& altname) {
  TRY(check_altname(altname));
  Status removed =
      socket.send(altname_message("remove the alternative name " + altname + " from " + words(link),
                                  RTM_DELLINKPROP, link, altname));
  if (!removed && removed.error().error_number() == ENOENT) return ok();
  return removed;
}

Status move(Socket& socket, IfIndex link, const Fd& netns, const std::string& name) {
  if (!name.empty()) TRY(check_link_name(name));
  return socket.send(encode_move(link, netns, name));
}

Status remove_link(Socket& socket, IfIndex link) {
  Status removed = socket.send(link_message("remove " + words(link), RTM_DELLINK, 0, link));
  if (!removed && removed.error().error_number() == ENODEV) return ok();
  return removed;
}

}  // namespace ibpod::nl
