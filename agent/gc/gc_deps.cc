#include "agent/gc/gc_deps.h"

#include "lib/node/child.h"
#include "lib/node/linux_kernel.h"

namespace ibpod::agent::gc {

Result<std::vector<std::string>> HostStrays::list_strays() {
  // Without its folder every child would look like one that has lost its record.
  if (!records_.has_folder())
    return Error(Code::unavailable, records_.folder().string() + " is missing");
  const std::unique_ptr<node::LinuxKernel> kernel = TRY(node::LinuxKernel::open(sysfs_));
  const std::vector<node::Netdev> strays = TRY(node::stray_children(*kernel, records_));
  std::vector<std::string> names;
  for (const node::Netdev& stray : strays) names.push_back(stray.name);
  return names;
}

}  // namespace ibpod::agent::gc
