// Whether two ports reach each other: two keys of one partition match where at least one of them is
// a full member's (IBA 1.4, volume 1, 10.9.3), at the ports and at switch ports that enforce it.
#pragma once

#include "sm/tables/fabric_snapshot.h"

#include <string>
#include <vector>

namespace ibpod::sm::plan {

struct ReachEnd {
  std::string name;  // for the sentences
  ib::Guid port;
};

// A sentence for each partition that both are in, or should be, by the tables that were read last.
// It begins with the partition and "yes", "no", "not now" or "not known". The default one is last.
std::vector<std::string> reach(const ReachEnd& one, const ReachEnd& other,
                               const tables::FabricSnapshot& snapshot);

}  // namespace ibpod::sm::plan
