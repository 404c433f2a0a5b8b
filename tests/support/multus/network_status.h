// The status that a pod gets for one of its networks (annotation
// k8s.v1.cni.cncf.io/network-status).
#pragma once

#include "lib/base/result.h"
#include "lib/json/value.h"
#include "tests/support/multus/delegate.h"

#include <optional>
#include <vector>

namespace ibpod::multus {

// By the delegate's result: an entry for each interface in the pod, and so none where there is no
// interface.
Result<std::vector<json::Value>> network_statuses(const Delegate& delegate,
                                                  const std::optional<json::Value>& device_info);

}  // namespace ibpod::multus
