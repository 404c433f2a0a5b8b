// Why a port is as it is, and why two reach each other or not. Pure.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "sm/tables/fabric_snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm {

// What is asked about: a pod, which may have several ports, or a port.
struct Party {
  struct Port {
    ib::Guid guid;
    std::optional<fabric::Binding> binding = {};
    bool operator==(const Port&) const = default;
  };
  std::string name;  // as it was asked: "namespace/pod", or a GUID
  std::vector<Port> ports = {};
};

// Of one party its ports; of two also in which partitions they reach each other now, for each pair
// of a port of the first and one of the second, as the tables say that were read last. What is not
// known is said, and never taken for a no or a yes.
fabricapi::Explanation explain(const std::vector<Party>& parties, const Evidence& evidence);

// In sentences: what is to be known of a port. Empty: it is as it should be.
std::vector<std::string> findings_of(const Party::Port& port, const Evidence& evidence);

}  // namespace ibpod::sm
