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

// The holders of each device, by their records.
using Holders = std::map<ib::PciAddress, std::vector<Holder>>;

// Chooses from the ids that the kubelet gave the pod: the one that `asker` holds already (a
// repeated ADD), else the first by PCI address without a holder, else the first that another pod
// holds: that pod is over, as the kubelet has given its device away, and ADD waits for its DEL.
// Empty if the pod was given none. unavailable if attachments of a pod of that name hold all of
// them: pod-resources has no UID, so the answer may be about an earlier pod and change soon.
// internal for an id that is not a PCI address.
Result<std::string> choose_device(const std::vector<std::string>& ids, const Holders& holders,
                                  const Holder& asker);

}  // namespace ibpod::agent::kubelet
