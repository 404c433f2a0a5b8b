// Whether a pod may have the device that its network names. Tenants write networks, and a network
// can name any device of the node; what the kubelet allocated to the pod is the truth.
#pragma once

#include "lib/attach/context.h"
#include "lib/ib/pci_address.h"

#include <string>
#include <string_view>

namespace ibpod::attach {

inline constexpr std::string_view kDeviceAdvice =
    "request the device's resource in the pod's spec and leave deviceID to Multus, or set "
    "\"devices\": \"any\"";

// The node's agent asks the kubelet. denied if the kubelet has not given `device` to the pod; `key`
// names it in the network, `advice` is the remedy, up to the name of the node's file. ok if there
// is nothing to check it against: the node allows any device (node_config.h), runs no kubelet, or
// attaches without an agent and none listens. Any other failure to answer is the agent's error.
Status check_allocated(const Context& context, const std::string& key, const ib::PciAddress& device,
                       const std::string& advice, Deadline deadline);

}  // namespace ibpod::attach
