#include "lib/fabric/partitions_conf_parser.h"

#include "lib/fabric/partitions_conf_lexer.h"
#include "lib/ib/hex.h"

#include <algorithm>

#include <arpa/inet.h>

namespace ibpod::fabric {
namespace {

// Refuses `both` if OpenSM would make it full.
Status check_usable(Membership membership, SourcePosition position, const OpenSmOptions& options) {
  if (membership != Membership::both || options.allow_both_pkeys) return ok();
  return wrong(position, "OpenSM makes both full unless opensm.conf has allow_both_pkeys TRUE");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// NAME=P_KEY, =P_KEY or P_KEY.
Status read_identity(const Entry& entry, PartitionDefinition& definition) {
  const std::string_view text = entry.name.text;
  const bool only_pkey = !entry.value && !text.empty() && is_digit(text.front());
  if (!entry.value && !only_pkey) {
    return wrong(entry.name.position, "partition \"" + std::string(text) +
                                          "\" has no P_Key, so OpenSM would choose one: write " +
                                          std::string(text) + "=0xNNNN");
  }
  definition.pkey = TRY(read_pkey(only_pkey ? entry.name : *entry.value));
  // OpenSM's own name for a partition without a name.
  definition.name =
      only_pkey || text.empty() ? ib::hex(definition.pkey.value(), 4) : std::string(text);
  if (definition.name.size() > kMostName) {
    return wrong(entry.name.position, "a name of " + std::to_string(definition.name.size()) +
                                          " bytes: OpenSM keeps only " + std::to_string(kMostName));
  }
  if ((definition.name == kDefaultName) == (definition.pkey == kDefaultPKey)) return ok();
  const bool is_default = definition.pkey == kDefaultPKey;
  return wrong(entry.name.position,
               "the default partition is Default=0x7fff; no other may have its name or its P_Key" +
                   std::string(is_default ? ": write Default=0x7fff" : ""));
}

Status read_own_flag(const Entry& entry, PartitionDefinition& definition,
                     const OpenSmOptions& options) {
  if (entry.name.text == "defmember") {
    const Word word = TRY(value_of(entry));
    definition.default_membership = TRY(read_membership(word));
    return check_usable(definition.default_membership, word.position, options);
  }
  if (entry.value) {
    return wrong(entry.value->position,
                 "\"" + std::string(entry.name.text) +
                     "\" takes no value: OpenSM reads it as set whatever the value is: write " +
                     std::string(entry.name.text) + " alone, or remove it");
  }
  (entry.name.text == "ipoib" ? definition.ipoib : definition.index0) = true;
  return ok();
}

bool is_own_flag(std::string_view name) {
  return name == "indx0" || name == "ipoib" || name == "defmember";
}

}  // namespace

Result<PartitionDefinition> read_head(const DefinitionTokens& tokens,
                                      const OpenSmOptions& options) {
  PartitionDefinition definition;
  TRY(read_identity(tokens.head.front(), definition));
  FlagReader flags(definition.group);
  for (size_t i = 1; i < tokens.head.size(); ++i) {
    const Entry& entry = tokens.head[i];
    if (is_own_flag(entry.name.text)) {
      TRY(flags.once(entry));
      TRY(read_own_flag(entry, definition, options));
      continue;
    }
    const bool known = TRY(flags.take(entry));
    if (!known) return flags.unknown(entry);
    if (definition.group.sl != 0 && !options.qos)
      return wrong(entry.name.position,
                   "OpenSM sets every sl to 0 unless opensm.conf has qos TRUE");
  }
  return definition;
}

namespace {

using Mgid = std::array<uint8_t, 16>;

constexpr uint8_t kMulticast = 0xff;
constexpr uint32_t kIpQKey = 0x0b1b;
// ff12:401b:ffff::ffff:ffff means the broadcast group of any partition.
constexpr Mgid kBroadcast = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0,    0,
                             0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff};

Result<Mgid> read_mgid(const Entry& entry) {
  const Word word = TRY(value_of(entry));
  Mgid mgid{};
  if (::inet_pton(AF_INET6, std::string(word.text).c_str(), mgid.data()) != 1 ||
      mgid[0] != kMulticast) {
    return wrong(word.position,
                 "\"" + std::string(word.text) +
                     "\" is not a multicast GID: expected one such as ff12:401b::16");
  }
  if (!entry.comma_after) {
    return wrong(entry.name.position,
                 "a multicast group without ',' after it: OpenSM reads the following text, even a "
                 "comment, as its flags: write mgid=" +
                     std::string(word.text) + ",");
  }
  return mgid;
}

// The signature of IPv4 and of IPv6 (RFC 4391, section 4).
bool is_ip(const Mgid& mgid) { return (mgid[2] == 0x40 || mgid[2] == 0x60) && mgid[3] == 0x1b; }

uint16_t pkey_in(const Mgid& mgid) { return static_cast<uint16_t>(mgid[4] << 8 | mgid[5]); }

ib::PKey full_key(ib::PKey pkey) { return ib::PKey(static_cast<uint16_t>(pkey.value() | 0x8000)); }

void set_pkey(Mgid& mgid, ib::PKey pkey) {
  mgid[4] = static_cast<uint8_t>(pkey.value() >> 8);
  mgid[5] = static_cast<uint8_t>(pkey.value());
}

// Refuses groups that OpenSM would skip with a line in its log.
Status complete_ip(MulticastGroup& group, const PartitionDefinition& definition,
                   SourcePosition position) {
  const ib::PKey full = full_key(definition.pkey);
  const uint16_t given = pkey_in(group.mgid);
  if (group.mgid != kBroadcast && given != 0 && given != full.value()) {
    return wrong(position, "the group's P_Key is " + ib::PKey(given).text() + ": expected " +
                               full.text() + ", the partition's, or 0");
  }
  if (group.flags.mtu != definition.group.mtu || group.flags.rate != definition.group.rate)
    return wrong(position, "an IP group must have the mtu and the rate of its partition");
  set_pkey(group.mgid, full);
  if (group.flags.q_key == 0) group.flags.q_key = kIpQKey;
  return ok();
}

}  // namespace

Result<MulticastGroup> read_group(std::span<const Entry> entries,
                                  const PartitionDefinition& definition) {
  const Entry& head = entries.front();
  MulticastGroup group;
  group.mgid = TRY(read_mgid(head));
  group.flags = definition.group;
  group.flags.tclass = 0;
  FlagReader flags(group.flags);
  for (const Entry& entry : entries.subspan(1)) {
    const bool known = TRY(flags.take(entry));
    if (!known) return flags.unknown(entry);
  }
  if (is_ip(group.mgid)) TRY(complete_ip(group, definition, head.name.position));
  return group;
}

std::array<uint8_t, 16> broadcast_group(ib::PKey pkey) {
  Mgid mgid = kBroadcast;
  set_pkey(mgid, full_key(pkey));
  return mgid;
}

namespace {

std::string at(SourcePosition position) {
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

}  // namespace

// OpenSM uses the last entry that matches a port. A group before a single port writes an exception;
// the other way around the group overrides the port's entry.
Status MemberReader::check_overrides(const Member& member, SourcePosition position) const {
  const auto twice = positions_.find(member.port);
  if (twice != positions_.end()) {
    return wrong(position, member.port.text() + " is in this partition already: " +
                               at(twice->second) + ": OpenSM would use the last entry");
  }
  const std::optional<PortGroup> group = member.port.group();
  if (!group || group == PortGroup::self) return ok();
  for (const auto& [other, where] : group == PortGroup::all ? given_ : given_to_one_) {
    if (other == member.membership) continue;
    return wrong(position, member.port.text() + " as " + std::string(name(member.membership)) +
                               " overrides the entry of " + at(where) + ": put it before that one");
  }
  return ok();
}

// A hint for a ',' in place of the '=' before a membership.
std::string MemberReader::likely_meant(const Entry& entry) const {
  if (entry.value || members_.empty() || !parse_membership(entry.name.text)) return "";
  return ": a membership follows '=': write " + members_.back().port.text() + "=" +
         std::string(entry.name.text);
}

Status MemberReader::take(const Entry& entry, EntryDefaults otherwise,
                          const OpenSmOptions& options) {
  const SourcePosition position = entry.name.position;
  if (entry.name.text == "NONE") {
    if (entry.value) return wrong(entry.value->position, "NONE takes no membership");
    return ok();
  }
  const Result<PortSpecifier> port = PortSpecifier::parse(entry.name.text);
  if (!port) return wrong(position, port.error().text() + likely_meant(entry));
  Member member{*port, otherwise.membership, otherwise.skip_index0};
  if (entry.value) {
    member.membership = TRY(read_membership(*entry.value));
    TRY(check_usable(member.membership, entry.value->position, options));
  }
  TRY(check_overrides(member, position));
  positions_.emplace(member.port, position);
  given_.emplace(member.membership, position);
  const std::optional<PortGroup> group = member.port.group();
  if (!group || group == PortGroup::self) given_to_one_.emplace(member.membership, position);
  members_.push_back(member);
  return ok();
}

}  // namespace ibpod::fabric
