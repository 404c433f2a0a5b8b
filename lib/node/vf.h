// A virtual function on its way into a pod: looked at, then given.
#pragma once

#include "lib/node/kernel.h"
#include "lib/node/record.h"

#include <optional>
#include <string_view>

namespace ibpod::node {

inline constexpr std::string_view kVfio = "vfio-pci";
inline bool is_vfio(std::string_view driver) { return driver == kVfio; }

// The identity and state of a function in the host's namespace. unavailable, with the remedy, if it
// could not be given to a pod now: no driver, no interface; invalid if its port is not InfiniBand.
// A PF that cannot be queried is an error only if the spec has a setting for the PF.
Result<Original> observe(Kernel& kernel, const Function& function, const Spec& spec);

// busy if the VF has IPoIB children that giving it away would end: a rebind and a move of the RDMA
// device make the interface again, and the kernel removes its children with it.
Status check_children(const Record& record);

// Gives the pod what the record wants: GUIDs (with a rebind only where the VF shows others), link
// policy, the RDMA devices where isolation is wanted, the interface under its name, MTU, up. The
// record is on disk before this is called; whatever fails half way, restore() puts back.
Status move_to_pod(Kernel& kernel, const Record& record, Deadline deadline);

// The first of the function's own interfaces in a namespace: the one that a pod is given.
Result<std::optional<Netdev>> own_netdev(Kernel& kernel, const Namespace& where,
                                         const ib::PciAddress& function);

// The GUIDs that the function's devices show in a namespace; nothing where none is there.
Result<std::optional<Guids>> own_guids(Kernel& kernel, const Namespace& where,
                                       const ib::PciAddress& function);

}  // namespace ibpod::node
