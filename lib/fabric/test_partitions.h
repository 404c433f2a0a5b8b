// Partitions at random, such as an ibpod-sm may be asked for; and those of bad files.
#pragma once

#include "lib/fabric/partition_definition.h"

#include <random>
#include <set>
#include <string>
#include <vector>

namespace ibpod::fabric::test {

class RandomPartitions {
 public:
  explicit RandomPartitions(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t end) {
    return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_);
  }

  // The default partition and some others, no two with one P_Key.
  std::vector<PartitionDefinition> some() {
    std::vector<PartitionDefinition> definitions = others(below(8));
    definitions.insert(definitions.begin() + below(static_cast<uint32_t>(definitions.size()) + 1),
                       the_default());
    return definitions;
  }
  std::vector<PartitionDefinition> others(uint32_t count) {
    std::vector<PartitionDefinition> definitions;
    while (count-- > 0) definitions.push_back(one());
    return definitions;
  }

 private:
  PartitionDefinition the_default() {
    PartitionDefinition definition = default_definition();
    definition.ipoib = below(2) == 0;
    definition.index0 = below(2) == 0;
    if (below(2) == 0) definition.members.push_back({guid(), membership()});
    return definition;
  }

  PartitionDefinition one() {
    PartitionDefinition definition;
    do definition.pkey = ib::PKey(static_cast<uint16_t>(1 + below(0x7ffe)));
    while (!pkeys_.insert(definition.pkey).second);
    definition.name = name();
    definition.ipoib = below(2) == 0;
    definition.group = flags();
    definition.default_membership = membership();
    // Groups first: an entry for all behind others would take away from them.
    if (below(4) == 0) definition.members.push_back({PortGroup::all, membership()});
    if (below(4) == 0) definition.members.push_back({PortGroup::all_cas, membership()});
    if (below(4) == 0) definition.members.push_back({PortGroup::self, membership()});
    const bool only_guids = definition.members.empty();
    for (uint32_t count = below(6); count > 0; --count)
      definition.members.push_back({guid(), membership()});
    // No GUID comes twice, so that no two ask for index 0 of one port.
    definition.index0 = only_guids && below(3) == 0;
    const auto members = static_cast<uint32_t>(definition.members.size());
    for (uint32_t i = below(members + 1); definition.index0 && i < members; ++i)
      definition.members[i].skip_index0 = true;
    if (below(4) == 0) definition.groups.push_back(group(definition));
    return definition;
  }

  std::string name() {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzALSN0123456789._-";
    std::string text;
    for (uint32_t length = 1 + below(kMostName); length > 0; --length)
      text += kLetters[below(kLetters.size())];
    return text;
  }

  Membership membership() { return static_cast<Membership>(below(3)); }

  ib::Guid guid() {
    while (true) {
      const ib::Guid made(static_cast<uint64_t>(random_()) << 32 | random_());
      if (ib::check_port_guid(made) && guids_.insert(made).second) return made;
    }
  }

  GroupFlags flags() {
    if (below(2) == 0) return {};
    GroupFlags flags;
    flags.mtu = static_cast<Mtu>(1 + below(5));
    flags.rate = static_cast<Rate>(2 + below(21));
    flags.sl = static_cast<uint8_t>(below(kMostSl + 1));
    flags.scopes = static_cast<uint16_t>(below(4) == 0 ? below(0x10000) & ~1U : 0);
    flags.q_key = below(3) == 0 ? static_cast<uint32_t>(random_()) : 0;
    flags.tclass = static_cast<uint8_t>(below(2) == 0 ? below(256) : 0);
    flags.flow_label = below(3) == 0 ? below(kMostFlowLabel + 1) : 0;
    return flags;
  }

  // Its scopes are the partition's and more; its number is the P_Key, so that no group comes twice.
  MulticastGroup group(const PartitionDefinition& definition) {
    MulticastGroup group;
    group.mgid[0] = 0xff;
    group.mgid[1] = 0x12;
    group.mgid[14] = static_cast<uint8_t>(definition.pkey.value() >> 8);
    group.mgid[15] = static_cast<uint8_t>(definition.pkey.value());
    group.flags = flags();
    group.flags.scopes = static_cast<uint16_t>(group.flags.scopes | definition.group.scopes);
    return group;
  }

  std::mt19937 random_;
  std::set<ib::PKey> pkeys_;
  std::set<ib::Guid> guids_;
};

}  // namespace ibpod::fabric::test
