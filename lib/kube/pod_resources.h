// PodResources: which devices the kubelet has given to which pods.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::kube {

struct ResourceDevices {
  std::string resource;
  std::vector<std::string> ids;
  bool operator==(const ResourceDevices&) const = default;
};

struct ContainerDevices {
  std::string name;
  std::vector<ResourceDevices> devices;  // a resource may be there several times
  bool operator==(const ContainerDevices&) const = default;
};

// The kubelet says no UID: two pods of one name that follow each other look the same here.
struct PodDevices {
  std::string name;
  std::string namespace_name;
  std::vector<ContainerDevices> containers;  // init containers that have ended are left out
  bool operator==(const PodDevices&) const = default;
};

// Asks on a connection of its own each time. Errors: not_found or unavailable where no kubelet is,
// unavailable after the deadline or when it is asked too often (100 a second), internal where the
// answer is larger than 16 MiB or the kubelet says no more.
class PodResources {
 public:
  explicit PodResources(Path socket = "/var/lib/kubelet/pod-resources/kubelet.sock")
      : socket_(std::move(socket)) {}

  // All pods of the node. Nothing where the kubelet named no pod at all: it does so for seconds
  // after its start, and for as long as it cannot reach the API server, with devices in use (seen
  // on 1.36). That proves nothing of any device.
  Result<std::optional<std::vector<PodDevices>>> list(Deadline deadline) const;

 private:
  Path socket_;
};

}  // namespace ibpod::kube
