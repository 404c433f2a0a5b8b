// What a command line says of a partition, and the partition that it makes of it.
#pragma once

#include "lib/fabric/partition.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::ctl {

// As they were typed; what was not stays as it is.
struct TenancyOptions {
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
  bool operator==(const TenancyOptions&) const = default;
};

// invalid, naming the option, its value and what would be right.
Result<fabric::Tenancy> changed(fabric::Tenancy tenancy, const TenancyOptions& options);

// A member that is there already gets the new membership and comment.
Result<fabric::Tenancy> with_member(fabric::Tenancy tenancy, const fabric::StaticMember& member);
// not_found where it is none.
Result<fabric::Tenancy> without_member(fabric::Tenancy tenancy, ib::Guid guid);

}  // namespace ibpod::ctl
