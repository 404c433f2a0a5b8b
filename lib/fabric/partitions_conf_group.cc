#include "lib/fabric/partitions_conf_group.h"

#include "lib/fabric/partitions_conf_words.h"

#include <algorithm>

#include <arpa/inet.h>

namespace ibpod::fabric {
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

}  // namespace ibpod::fabric
