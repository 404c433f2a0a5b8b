// Whether a pod may have the device that its network names. Tenants write networks, and a network
// can name any device of the node; what the kubelet allocated to the pod is the truth.
#pragma once

#include "lib/attach/context.h"
#include "lib/ib/pci_address.h"

#include <string>

namespace ibpod::attach {

// The node's agent asks the kubelet. denied if the kubelet has not given `device` to the pod; `key`
// is what names it in the network. ok if nobody can tell, because the node allows any device
// (node_config.h) or runs no kubelet, or because no agent listens on a node that attaches without
// one. Any other failure to answer is the agent's error.
Status check_allocated(const Context& context, const std::string& key, const ib::PciAddress& device,
                       Deadline deadline);

}  // namespace ibpod::attach
