// Devices: which devices the kubelet has given to a pod, handed out one after the other.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "tests/support/multus/objects.h"

#include <map>
#include <set>
#include <string>

namespace ibpod::multus {

class Devices {
 public:
  // By the kubelet's pod-resources service, or, where there is no such socket in the kubelet's
  // folder, by the file in which it keeps what it has given (its checkpoint).
  static Result<Devices> of(const Pod& pod, const Path& kubelet);

  // The next one of a resource in the order of their IDs; empty when there is none left.
  std::string take(const std::string& resource);

 private:
  std::map<std::string, std::set<std::string>> left_;
};

}  // namespace ibpod::multus
