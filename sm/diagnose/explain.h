// Explains the state of a port, and whether two ports can reach each other. Pure functions.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/diagnose/fabric_snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::diagnose {

// A pod, which may have several ports, or a port.
struct Subject {
  struct PortOfSubject {
    ib::Guid guid;
    std::optional<fabric::Binding> binding = {};
    bool operator==(const PortOfSubject&) const = default;
  };
  std::string name;  // as requested: "namespace/pod" or a GUID
  std::vector<PortOfSubject> ports = {};
};

// Explains the ports of one subject. For two subjects it also says in which partitions each pair of
// their ports can reach each other, by the last tables read. Unknown facts are named as such.
fabricapi::Explanation explain(const std::vector<Subject>& subjects,
                               const FabricSnapshot& snapshot);

// The faults and unknown facts of a port, in sentences. Empty: none.
std::vector<std::string> findings_of(const Subject::PortOfSubject& port,
                                     const FabricSnapshot& snapshot);

}  // namespace ibpod::sm::diagnose
