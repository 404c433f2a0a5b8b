// The pod of an attachment: its network namespace, and its interface there.
#pragma once

#include "lib/attach/context.h"
#include "lib/node/record.h"

#include <optional>

namespace ibpod::attach {

// The namespace of this call. Refuses, with the specification's code, one that does not exist (3)
// or is the host's (4).
Result<node::Namespace> pod_namespace(const Context& context);

// True if `where` is the namespace of this process, the host's.
Result<bool> is_own_namespace(const Context& context, const node::Namespace& where);

// exists if the pod already has an interface of that name.
Status check_name_is_free(const Context& context, const node::Namespace& pod);

// not_found if the pod ended while its ADD waited: no DEL would give the device back.
Status check_still_there(const Context& context, const node::Namespace& pod);
// not_found if a DEL has removed the record meanwhile.
Status check_still_ours(const Context& context, const node::Record& record);

// unavailable if the interface has disappeared from the pod.
Result<node::Netdev> pod_netdev(const Context& context, const node::Record& record);

// Waits until the interface has carrier, which shows that it has joined its partition's broadcast
// group. Nothing at the deadline.
Result<std::optional<node::Netdev>> await_carrier(const Context& context,
                                                  const node::Record& record, Deadline deadline);

// Makes the interface look its P_Key up again, before it has addresses: IPoIB keeps a limited key
// although the full one has come since, unless index 0 gets another partition (update_parent_pkey)
// or the interface comes up.
Status renew_pkey(const Context& context, const node::Record& record);

// For CHECK: compares name and MTU, and requires that the interface is up.
Status check_interface(const node::Record& record, const node::Netdev& now);

}  // namespace ibpod::attach
