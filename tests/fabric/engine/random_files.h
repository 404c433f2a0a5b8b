// Files for OpenSM at random: good ones, and damaged ones.
#pragma once

#include "lib/fabric/partitions_conf.h"
#include "tests/fabric/engine/subnet.h"
#include "tests/fabric/setting.h"

#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod {

// Few keys: those that a table has had keep their places there (docs/opensm-notes.md).
class RandomFiles {
 public:
  explicit RandomFiles(unsigned seed) : random_(seed) {}

  unsigned below(unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random_);
  }

  std::vector<fabric::PartitionDefinition> partitions() {
    std::vector<fabric::PartitionDefinition> all{fabric::default_definition()};
    all[0].index0 = true;
    if (below(3) == 0) all[0].members.push_back({guid_of(kFullHost), fabric::Membership::full});
    std::set<unsigned> keys;
    while (keys.size() < below(7)) keys.insert(1 + below(12));
    std::set<unsigned> index0;
    for (const unsigned key : keys) all.push_back(one(static_cast<uint16_t>(key), index0));
    return all;
  }

  // One of them as a file that was damaged, and what was meant.
  struct Damaged {
    std::vector<fabric::PartitionDefinition> meant;
    std::string text;
  };
  Damaged damaged_file(const fabric::OpenSmOptions& options) {
    auto meant = partitions();
    const std::string good = fabric::render(meant, "", options).value();
    return {std::move(meant), damaged(good.substr(good.find("\n\n") + 2))};
  }

 private:
  std::string damaged(std::string text) {
    for (unsigned times = 1 + below(3); times > 0 && !text.empty(); --times) {
      const unsigned at = below(static_cast<unsigned>(text.size()));
      constexpr std::string_view kBytes = " \t\n,;:=#0x1fA\r";
      const char byte = kBytes[below(kBytes.size())];
      switch (below(4)) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.insert(at, 1, byte);
          break;
        case 2:
          text.erase(at, 1 + below(8));
          break;
        default:
          text.insert(at, text.substr(below(static_cast<unsigned>(text.size())), below(40)));
      }
    }
    return text;
  }

  fabric::Membership membership() { return static_cast<fabric::Membership>(below(3)); }
  // Full members of the default partition, which have to keep its key at index 0: in time OpenSM
  // loses it elsewhere (docs/opensm-notes.md#a-table-that-has-had-64-keys).
  static constexpr unsigned kFullHost = 7;
  static bool keeps_default(unsigned host) { return host == kSmHost || host == kFullHost; }

  // A host has at most one key at index 0.
  fabric::PartitionDefinition one(uint16_t key, std::set<unsigned>& index0) {
    fabric::PartitionDefinition partition;
    partition.pkey = ib::PKey(key);
    partition.name = "p" + std::to_string(key);
    partition.ipoib = below(2) == 0;
    partition.default_membership = membership();
    partition.index0 = below(3) == 0;
    if (!partition.index0 && below(4) == 0)
      partition.members.push_back({fabric::PortGroup::all_cas, membership()});
    std::set<unsigned> hosts;
    for (unsigned count = below(5); count > 0; --count) hosts.insert(below(kHosts));
    std::vector<fabric::Member> keepers;
    for (const unsigned host : hosts) {
      const bool takes =
          partition.index0 && below(3) > 0 && !keeps_default(host) && index0.insert(host).second;
      const bool keeps = partition.index0 && !takes;
      (keeps ? keepers : partition.members).push_back({guid_of(host), membership(), keeps});
    }
    partition.members.insert(partition.members.end(), keepers.begin(), keepers.end());
    return partition;
  }

  std::mt19937 random_;
};

}  // namespace ibpod
