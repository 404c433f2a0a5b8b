// The options of a command line about a partition, and the partition made from them.
#pragma once

#include "lib/fabric/partition.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::ctl {

// As they were typed; what was not stays as it is.
struct PartitionOptions {
  std::string pkey;        // 0x0101
  std::string membership;  // limited, full, both
  std::optional<bool> index0;
  std::string ipoib;  // yes, no; "fabric": what the fabric has for all; the same for the next three
  std::string mtu;    // bytes
  std::string rate;   // Gb/s
  std::string sl;     // 0 to 15
  std::string proof;  // node, port, none
  std::vector<std::string> allow, disallow;          // namespaces
  std::vector<std::string> add_nodes, remove_nodes;  // patterns of nodes
  bool operator==(const PartitionOptions&) const = default;
};

// invalid, naming the option, its value and what would be right.
Result<fabric::Partition> changed(fabric::Partition partition, const PartitionOptions& options);

// A member that is there already gets the new membership and comment.
Result<fabric::Partition> with_member(fabric::Partition partition,
                                      const fabric::StaticMember& member);
// not_found where it is none.
Result<fabric::Partition> without_member(fabric::Partition partition, ib::Guid guid);

}  // namespace ibpod::ctl
