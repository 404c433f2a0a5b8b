#include "lib/fabric/partitions_conf_writer.h"

#include "lib/ib/hex.h"

#include <algorithm>
#include <span>

#include <arpa/inet.h>

namespace ibpod::fabric {
namespace {

template <typename Number>
std::string number(Number value) {
  return std::to_string(static_cast<uint64_t>(value));
}

// Each with a comma before it. A zero Q_Key, TClass or FlowLabel is told only to groups, which
// would have the partition's otherwise.
std::string flags_of(const GroupFlags& flags, bool with_zeros) {
  std::string text =
      ", mtu=" + number(flags.mtu) + ", rate=" + number(flags.rate) + ", sl=" + number(flags.sl);
  for (unsigned scope = 1; scope <= kMostScope; ++scope) {
    if ((flags.scopes >> scope & 1U) != 0) text += ", scope=" + number(scope);
  }
  if (with_zeros || flags.q_key != 0) text += ", Q_Key=0x" + ib::hex(flags.q_key, 8);
  if (with_zeros || flags.tclass != 0) text += ", TClass=" + number(flags.tclass);
  if (with_zeros || flags.flow_label != 0) text += ", FlowLabel=0x" + ib::hex(flags.flow_label, 5);
  return text;
}

std::string head_of(const PartitionDefinition& definition, std::string_view index0) {
  std::string text = definition.name + "=" + definition.pkey.text() + std::string(index0);
  if (definition.ipoib) text += ", ipoib";
  text += flags_of(definition.group, false);
  return text + ", defmember=" + std::string(name(definition.default_membership)) + " :\n";
}

std::string line_of(const MulticastGroup& group) {
  char gid[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, group.mgid.data(), gid, sizeof gid);
  return "\tmgid=" + std::string(gid) + flags_of(group.flags, true) + "\n";
}

std::string line_of(const Member& member) {
  return "\t" + member.port.text() + "=" + std::string(name(member.membership));
}

std::string lines_of(std::span<const Member> members) {
  std::string text;
  for (const Member& member : members)
    text += line_of(member) + (&member == &members.back() ? ";\n" : ",\n");
  // OpenSM drops a partition without members; NONE keeps its definition in the file.
  return members.empty() ? "\tNONE;\n" : text;
}

}  // namespace

std::string text_of(const PartitionDefinition& definition) {
  const std::span members(definition.members);
  const auto keeper = std::find_if(members.begin(), members.end(),
                                   [](const Member& member) { return member.skip_index0; });
  const auto others = static_cast<size_t>(keeper - members.begin());
  std::string text = head_of(definition, definition.index0 ? ", indx0" : "");
  for (const MulticastGroup& group : definition.groups) text += line_of(group);
  text += lines_of(members.first(others));
  // indx0 is for the ports that its own definition names (osm_prtn.c, osm_prtn_add_port).
  if (keeper != members.end()) text += head_of(definition, "") + lines_of(members.subspan(others));
  return text;
}

}  // namespace ibpod::fabric
