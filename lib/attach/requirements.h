// What an attachment requires of its call, its pod and its node: all that can be refused without
// touching the device.
#pragma once

#include "lib/attach/context.h"
#include "lib/cni/ipam.h"

#include <optional>

namespace ibpod::attach {

struct Prepared {
  node::Namespace pod;
  node::Function function;  // as it was before anything was done to it
  std::optional<cni::Ipam> ipam;
};
// Refuses, each with the specification's code: a namespace that is not there (3) or is the host's
// (4), an interface name that the pod has already, a function that is none or cannot be given,
// isolation in shared mode, an IPAM that is missing or does not speak the configuration's version.
Result<Prepared> prepare(const Context& context, const Order& order, Deadline deadline);

// A VF, or something on vfio-pci; the one that the order names.
Result<node::Function> usable_function(const Context& context, const Order& order);

// Isolation needs the RDMA subsystem in exclusive mode: unsupported, saying how to get there.
Status check_isolation(const Context& context);

// Whether it is the namespace that this process runs in, the host's: no pod's.
Result<bool> is_own_namespace(const Context& context, const node::Namespace& where);

// A pod may end while its ADD waits, and what is given then would be nobody's to give back.
Status check_still_there(const Context& context, const node::Namespace& pod);

}  // namespace ibpod::attach
