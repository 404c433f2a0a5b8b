#include "device-plugin/explain.h"

namespace ibpod::device_plugin {
namespace {

void note(std::vector<std::string>& notes, const char* what, const std::string& reason) {
  if (!reason.empty()) notes.push_back(what + reason);
}

bool is_allocated(const Allocated& allocated, const Device& device, const std::string& resource) {
  const auto holder = allocated.find(device.address);
  return holder != allocated.end() && holder->second == resource;
}

PoolExplanation explain_pool(const Pool& pool, const Device& device, const std::string& owner,
                             bool allocated) {
  PoolExplanation made{pool.resource(), pool.resource() == owner, ""};
  const MatchResult answer = match(pool, device);
  if (!answer.matches)
    made.reason = made.has_device ? "a pod has it from this pool; otherwise: " + answer.reason
                                  : answer.reason;
  else if (made.has_device)
    made.reason = pool.selectors.empty() ? "the pool takes every such device"
                                         : "by selectors[" + std::to_string(answer.selector) + "]";
  else
    made.reason =
        "it is in " + owner + (allocated ? ", which has given it to a pod" : ", which comes first");
  return made;
}

}  // namespace

Explanation explain(const std::vector<Pool>& pools, const Device& device,
                    const Allocated& allocated) {
  Explanation made;
  made.device = device.address.text();
  for (const PoolContents& contents : assign(pools, {device}, allocated)) {
    if (!contents.devices.empty()) made.resource = contents.pool.resource();
  }
  note(made.notes, "the host needs it: ", device.host_use);
  note(made.notes, "in quarantine: ", device.quarantine);
  note(made.notes, "in use: ", device.attachment);
  const bool is_kept = is_allocated(allocated, device, made.resource);
  for (const Pool& pool : pools)
    made.pools.push_back(explain_pool(pool, device, made.resource, is_kept));
  return made;
}

}  // namespace ibpod::device_plugin
