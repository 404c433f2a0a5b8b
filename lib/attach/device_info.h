// The device-info file: what the kubelet's device plugin and Multus tell a pod about its device
// (Device Information Specification 1.1.0).
#pragma once

#include "lib/attach/context.h"
#include "lib/attach/partition.h"

#include <optional>

namespace ibpod::attach {

// Corrects the file, which was written before the attachment: character devices are numbered anew
// when an RDMA device is moved or bound. Other members stay as they are; a file that does not exist
// is made. `membership` goes in as pkey and pkey-index.
Status write_device_info(const Path& file, const node::Function& function,
                         const std::optional<Membership>& membership);

// Tells what the attachment's character devices are by now: corrects the file, or warns
// where they are others than `before` and there is no file.
Status tell_devices(const Context& context, const Path& file, const node::Function& before,
                    const std::optional<Membership>& membership);

}  // namespace ibpod::attach
