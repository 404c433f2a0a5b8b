// The interface that a pod has got, whatever it is made of.
#pragma once

#include "lib/attach/context.h"

#include <optional>

namespace ibpod::attach {

// unavailable where it has disappeared from the pod.
Result<node::Netdev> pod_netdev(const Context& context, const node::Record& record);

// Waits until it has carrier: it has joined its partition's broadcast group. Nothing at the
// deadline.
Result<std::optional<node::Netdev>> await_carrier(const Context& context,
                                                  const node::Record& record, Deadline deadline);

// Has it look its partition's key up once more. Of two it keeps the limited one that it has found
// first, though the full one has come since: IPoIB looks again only where another partition has
// come to index 0 (update_parent_pkey), or the interface comes up. No addresses are on it yet.
Status renew_pkey(const Context& context, const node::Record& record);

// For CHECK: its name, its MTU, and that it is up.
Status check_interface(const node::Record& record, const node::Netdev& now);

}  // namespace ibpod::attach
