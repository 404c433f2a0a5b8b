// GetPreferredAllocation: which of the free devices a container should be given. Advice: the
// kubelet may take others.
#pragma once

#include "device-plugin/pool.h"
#include "lib/base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct PreferredAllocationRequest {
  std::vector<std::string> available;
  std::vector<std::string> must_include;
  size_t size = 0;
};

// As many IDs as the wish says, must_include among them, in the order of their addresses. The same
// wish has the same answer, in whatever order its lists are: what is equal otherwise is decided by
// PCI address. invalid for IDs that are none of the offers, and for a wish that cannot be granted.
Result<std::vector<std::string>> preferred_allocation(const std::vector<PoolDevice>& pool_devices,
                                                      Policy policy,
                                                      const PreferredAllocationRequest& request);

}  // namespace ibpod::device_plugin
