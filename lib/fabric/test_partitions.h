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
  std::vector<Partition> some() {
    std::vector<Partition> partitions = others(below(8));
    partitions.insert(partitions.begin() + below(static_cast<uint32_t>(partitions.size()) + 1),
                      the_default());
    return partitions;
  }
  std::vector<Partition> others(uint32_t count) {
    std::vector<Partition> partitions;
    while (count-- > 0) partitions.push_back(one());
    return partitions;
  }

 private:
  Partition the_default() {
    Partition partition = default_partition();
    partition.ipoib = below(2) == 0;
    partition.index0 = below(2) == 0;
    if (below(2) == 0) partition.members.push_back({guid(), membership()});
    return partition;
  }

  Partition one() {
    Partition partition;
    do partition.pkey = ib::PKey(static_cast<uint16_t>(1 + below(0x7ffe)));
    while (!pkeys_.insert(partition.pkey).second);
    partition.name = name();
    partition.ipoib = below(2) == 0;
    partition.group = flags();
    partition.default_membership = membership();
    // Groups first: an entry for all behind others would take away from them.
    if (below(4) == 0) partition.members.push_back({PortGroup::all, membership()});
    if (below(4) == 0) partition.members.push_back({PortGroup::all_cas, membership()});
    if (below(4) == 0) partition.members.push_back({PortGroup::self, membership()});
    const bool only_guids = partition.members.empty();
    for (uint32_t count = below(6); count > 0; --count)
      partition.members.push_back({guid(), membership()});
    // No GUID comes twice, so that no two ask for index 0 of one port.
    partition.index0 = only_guids && below(3) == 0;
    const auto members = static_cast<uint32_t>(partition.members.size());
    for (uint32_t i = below(members + 1); partition.index0 && i < members; ++i)
      partition.members[i].keeps_index0 = true;
    if (below(4) == 0) partition.groups.push_back(group(partition));
    return partition;
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
  MulticastGroup group(const Partition& partition) {
    MulticastGroup group;
    group.mgid[0] = 0xff;
    group.mgid[1] = 0x12;
    group.mgid[14] = static_cast<uint8_t>(partition.pkey.value() >> 8);
    group.mgid[15] = static_cast<uint8_t>(partition.pkey.value());
    group.flags = flags();
    group.flags.scopes = static_cast<uint16_t>(group.flags.scopes | partition.group.scopes);
    return group;
  }

  std::mt19937 random_;
  std::set<ib::PKey> pkeys_;
  std::set<ib::Guid> guids_;
};

}  // namespace ibpod::fabric::test
