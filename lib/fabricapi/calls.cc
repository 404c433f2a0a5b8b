#include "lib/fabricapi/calls.h"

namespace ibpod::fabricapi {

bool matches(const BindingFilter& filter, const fabric::Binding& binding) {
  const auto is = [](const std::string& wanted, const std::string& found) {
    return wanted.empty() || wanted == found;
  };
  const auto in_partition = [&] {
    for (const fabric::PartitionMembership& membership : binding.desired)
      if (membership.partition == filter.partition) return true;
    return filter.partition.empty();
  };
  return is(filter.node, binding.attachment.node) &&
         is(filter.name_space, binding.pod.name_space) && is(filter.pod, binding.pod.name) &&
         in_partition() && (!filter.guid || *filter.guid == binding.guid) &&
         (!filter.state || *filter.state == binding.state);
}

}  // namespace ibpod::fabricapi
