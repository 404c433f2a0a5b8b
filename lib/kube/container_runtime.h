// ContainerRuntime: the sandboxes of the node's pods, by CRI.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <string>
#include <vector>

namespace ibpod::kube {

// Asks on a connection of its own each time. An error (not_found or unavailable where no runtime
// is, unavailable after the deadline) says nothing of any sandbox.
class ContainerRuntime {
 public:
  explicit ContainerRuntime(Path socket) : socket_(std::move(socket)) {}

  // The ids of the sandboxes that are ready: CNI's container IDs. One whose first process has died
  // is not ready, though its network namespace may still be there.
  Result<std::vector<std::string>> ready_sandboxes(Deadline deadline) const;

 private:
  Path socket_;
};

}  // namespace ibpod::kube
