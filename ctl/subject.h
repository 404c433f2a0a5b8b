// The subject of `explain`. A pod, a GUID and a PCI address look different.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/pci_address.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::ctl {

// Nothing where it is not one PCI address and nothing else.
std::optional<ib::PciAddress> device_of(const std::vector<std::string>& words);

// "namespace/pod", with a cluster in front unless it is the default one, or the GUID as ib::Guid
// prints it. invalid for what is neither.
Result<std::vector<std::string>> subjects_of(const std::vector<std::string>& words,
                                             const std::string& name_space);

}  // namespace ibpod::ctl
