// PendingForgets: calls that wait until a node is forgotten.
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/bindings/node_registry.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::controller {

class PendingForgets {
 public:
  using Time = Deadline::Clock::time_point;
  using Done = fabricapi::Done<v1::FabricNode>;

  void add(std::string node, Time until, Done done) {
    calls_.push_back({std::move(node), until, std::move(done)});
  }
  // Answers the calls whose node is gone, and those whose deadline has passed with the node as it
  // is now.
  void answer(const bindings::NodeRegistry& nodes, Time now);
  // The earliest deadline; nothing: no call waits.
  std::optional<Time> due() const;

 private:
  struct Call {
    std::string node;
    Time until;
    Done done;
  };
  std::vector<Call> calls_;
};

}  // namespace ibpod::sm::controller
