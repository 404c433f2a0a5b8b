// DEL: a device comes back from a pod.
#pragma once

#include "lib/attach/context.h"

#include <optional>

namespace ibpod::attach {

// Releases every attachment recorded for this container and interface, whatever the call still
// knows of it: works twice, without a namespace, after a reboot. Without a record only what is in
// this call's own namespace and belongs to `device` comes home, and nothing if another record names
// the device.
Status del(const Context& context, const std::optional<ib::PciAddress>& device, Duration timeout);

}  // namespace ibpod::attach
