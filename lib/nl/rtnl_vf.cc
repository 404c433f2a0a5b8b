#include "lib/nl/attributes.h"
#include "lib/nl/rtnl.h"
#include "lib/nl/rtnl_messages.h"
#include "lib/nl/socket.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace ibpod::nl {
namespace {

std::string words(VfIndex vf) { return "VF " + std::to_string(static_cast<uint32_t>(vf)); }

void add_guid(Message& message, int attribute, VfIndex vf, ib::Guid guid) {
  ifla_vf_guid value{};
  value.vf = static_cast<uint32_t>(vf);
  value.guid = guid.value();
  message.open(IFLA_VF_INFO).value(attribute, value).close();
}

Result<ib::Guid> guid_in(const Attribute& attribute) {
  const ifla_vf_guid value = TRY(value_of<ifla_vf_guid>(attribute));
  return ib::Guid(value.guid);
}

// IFLA_VF_MAC is the attribute that every kernel gives for every VF. Its number counts.
Result<VfSettings> read_vf(Bytes info) {
  VfSettings settings;
  bool numbered = false;
  const auto found = TRY(attributes(info));
  for (const Attribute& attribute : found) {
    if (attribute.type == IFLA_VF_MAC) {
      settings.vf = TRY(value_of<VfIndex>(attribute));
      numbered = true;
    }
    if (attribute.type == IFLA_VF_IB_NODE_GUID) settings.node_guid = TRY(guid_in(attribute));
    if (attribute.type == IFLA_VF_IB_PORT_GUID) settings.port_guid = TRY(guid_in(attribute));
    if (attribute.type == IFLA_VF_LINK_STATE) {
      const ifla_vf_link_state state = TRY(value_of<ifla_vf_link_state>(attribute));
      settings.policy = LinkPolicy{state.link_state};
    }
  }
  if (!numbered) return Error(Code::invalid, "the message has no number of the VF");
  return settings;
}

Result<std::vector<VfSettings>> read_list(Bytes list) {
  std::vector<VfSettings> all;
  const auto found = TRY(attributes(list));
  for (const Attribute& attribute : found) {
    if (attribute.type != IFLA_VF_INFO) continue;
    VfSettings settings = TRY(read_vf(attribute.value));
    all.push_back(settings);
  }
  return all;
}

}  // namespace

Result<std::vector<VfSettings>> parse_vf_settings(Bytes payload) {
  TRY(take_header<ifinfomsg>(payload));
  const auto found = TRY(attributes(payload));
  for (const Attribute& attribute : found) {
    if (attribute.type == IFLA_VFINFO_LIST) return read_list(attribute.value);
  }
  return std::vector<VfSettings>();
}

Message encode_set_vf_guids(IfIndex pf, VfIndex vf, ib::Guid node, ib::Guid port) {
  Message message =
      link_message("set the GUIDs of " + words(vf) + " of " + words(pf), RTM_SETLINK, 0, pf);
  message.open(IFLA_VFINFO_LIST);
  add_guid(message, IFLA_VF_IB_NODE_GUID, vf, node);
  add_guid(message, IFLA_VF_IB_PORT_GUID, vf, port);
  message.close();
  return message;
}

Result<std::vector<VfSettings>> vf_settings(Socket& socket, IfIndex pf) {
  Message message = link_message("list the VFs of " + words(pf), RTM_GETLINK, 0, pf);
  message.u32(IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
  Result<std::vector<VfSettings>> all =
      get_one<std::vector<VfSettings>>(socket, message, parse_vf_settings);
  if (all || all.error().error_number() != EMSGSIZE) return all;
  return Error(Code::unsupported, all.error().text() + " (this kernel cannot list so many VFs)");
}

Status set_vf_guids(Socket& socket, IfIndex pf, VfIndex vf, ib::Guid node, ib::Guid port) {
  return socket.send(encode_set_vf_guids(pf, vf, node, port));
}

Status set_vf_policy(Socket& socket, IfIndex pf, VfIndex vf, LinkPolicy policy) {
  Message message =
      link_message("set the link state of " + words(vf) + " of " + words(pf), RTM_SETLINK, 0, pf);
  ifla_vf_link_state value{};
  value.vf = static_cast<uint32_t>(vf);
  value.link_state = static_cast<uint32_t>(policy);
  message.open(IFLA_VFINFO_LIST).open(IFLA_VF_INFO).value(IFLA_VF_LINK_STATE, value);
  message.close().close();
  return socket.send(message);
}

}  // namespace ibpod::nl
