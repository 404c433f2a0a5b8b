// The pod of an attachment: its network namespace, and its interface in it, whatever that is made
// of.
#pragma once

#include "lib/attach/context.h"
#include "lib/node/record.h"

#include <optional>

namespace ibpod::attach {

// The namespace of this call. Refuses, with the specification's code, one that is not there (3) or
// is the host's (4).
Result<node::Namespace> pod_namespace(const Context& context);

// Whether it is the namespace that this process runs in, the host's: no pod's.
Result<bool> is_own_namespace(const Context& context, const node::Namespace& where);

// exists if the pod has an interface of that name already.
Status check_name_is_free(const Context& context, const node::Namespace& pod);

// not_found if the pod ended while its ADD waited: no DEL would give the device back.
Status check_still_there(const Context& context, const node::Namespace& pod);
// The same of the record: a DEL may come meanwhile.
Status check_still_ours(const Context& context, const node::Record& record);

// unavailable where the interface has disappeared from the pod.
Result<node::Netdev> pod_netdev(const Context& context, const node::Record& record);

// Waits until the interface has carrier: it has joined its partition's broadcast group. Nothing at
// the deadline.
Result<std::optional<node::Netdev>> await_carrier(const Context& context,
                                                  const node::Record& record, Deadline deadline);

// Has the interface look its partition's key up once more. Of two it keeps the limited one that it
// has found first, though the full one has come since: IPoIB looks again only where another
// partition has come to index 0 (update_parent_pkey), or the interface comes up. No addresses are
// on it yet.
Status renew_pkey(const Context& context, const node::Record& record);

// For CHECK: its name, its MTU, and that it is up.
Status check_interface(const node::Record& record, const node::Netdev& now);

}  // namespace ibpod::attach
