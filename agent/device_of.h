// Which VF the kubelet gave a pod, for a plugin that is called without a deviceID.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/pci_address.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::agent {

// Whose records hold which devices: "container:interface".
using Holders = std::map<ib::PciAddress, std::vector<std::string>>;

// Of the ids that the kubelet gave the pod: the one that `asker` holds already (an ADD that comes
// again), else the first by PCI address that nobody holds; empty where it was given none.
// unavailable where others hold all of them: pod-resources has no UID, so it may speak of an
// earlier pod of that name, whose attachment has not ended yet. internal for an id that is no PCI
// address.
Result<std::string> choose_device(const std::vector<std::string>& ids, const Holders& holders,
                                  const std::string& asker);

}  // namespace ibpod::agent
