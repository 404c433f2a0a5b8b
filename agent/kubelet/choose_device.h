// Which VF the kubelet gave a pod, for a plugin that is called without a deviceID.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/pci_address.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::agent::kubelet {

// An attachment by its record: "container:interface", and the pod's "namespace/name" where the
// record can be read.
struct Holder {
  std::string attachment;
  std::string pod;
};

// Whose records hold which devices.
using Holders = std::map<ib::PciAddress, std::vector<Holder>>;

// Of the ids that the kubelet gave the pod: the one that `asker` holds already (an ADD that comes
// again), else the first by PCI address that nobody holds, else the first whose holder is another
// pod: that one is over, or the kubelet had not given its device away, and ADD waits for its DEL.
// Empty where it was given none. unavailable where attachments of a pod of that name hold all of
// them: pod-resources has no UID, so it may speak of an earlier one, and of other devices soon.
// internal for an id that is not a PCI address.
Result<std::string> choose_device(const std::vector<std::string>& ids, const Holders& holders,
                                  const Holder& asker);

}  // namespace ibpod::agent::kubelet
