// Holder: whose a PCI function is, by the records of attachments.
#pragma once

#include "lib/ib/pci_address.h"
#include "lib/node/records.h"

#include <map>
#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct Holder {
  std::string attachment;  // "pod default/trainer-0 (net1)"; empty: no pod has the function
  std::string quarantine;  // why no pod may get it although no pod is known to have it
  std::string children;  // that pods have IPoIB children on it: "pod default/store (net1) has …"
  // Namespaces that may have its devices instead of the host's.
  std::vector<node::Namespace> namespaces;
};

// By function. A record that cannot be read puts its VF into quarantine, whatever the reason: the
// VF may be in use, so no other pod may get it.
Result<std::map<ib::PciAddress, Holder>> read_holders(const node::Records& records);

}  // namespace ibpod::device_plugin
