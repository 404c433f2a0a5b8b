// Reachability of two ports: two keys of one partition match if at least one of them is full (IBA
// 1.4, volume 1, 10.9.3), in the tables of the ports and of enforcing switch ports.
#pragma once

#include "sm/diagnose/fabric_snapshot.h"

#include <string>
#include <vector>

namespace ibpod::sm::diagnose {

struct ReachEnd {
  std::string name;  // its name in sentences
  ib::Guid port;
};

// One sentence for each partition that both are or should be in, by the last tables read: the
// partition, then "yes", "no", "not now" or "not known". The default partition comes last.
std::vector<std::string> reach(const ReachEnd& one, const ReachEnd& other,
                               const FabricSnapshot& snapshot);

}  // namespace ibpod::sm::diagnose
