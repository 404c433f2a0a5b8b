// Why a port is as it is, and why two reach each other or not. Pure.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/tables/fabric_snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::plan {

// What is asked about: a pod, which may have several ports, or a port.
struct Subject {
  struct PortOfSubject {
    ib::Guid guid;
    std::optional<fabric::Binding> binding = {};
    bool operator==(const PortOfSubject&) const = default;
  };
  std::string name;  // as it was asked: "namespace/pod", or a GUID
  std::vector<PortOfSubject> ports = {};
};

// Of one party its ports; of two also in which partitions they reach each other now, for each pair
// of a port of the first and one of the second, as the tables say that were read last. What is not
// known is said, and never taken for a no or a yes.
fabricapi::Explanation explain(const std::vector<Subject>& parties,
                               const tables::FabricSnapshot& snapshot);

// In sentences: what is to be known of a port. Empty: it is as it should be.
std::vector<std::string> findings_of(const Subject::PortOfSubject& port,
                                     const tables::FabricSnapshot& snapshot);

}  // namespace ibpod::sm::plan
