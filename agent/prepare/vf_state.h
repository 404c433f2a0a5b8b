// A VF as preparation sees it, and whether it may be taken away for a moment.
#pragma once

#include "lib/node/kernel.h"
#include "lib/node/record.h"

#include <optional>
#include <string>

namespace ibpod::agent::prepare {

struct VfState {
  node::Function function;
  std::optional<nl::VfSettings> pf_configured;  // nothing where this kernel cannot say it
  std::optional<node::Guids> shown;             // nothing where the host sees no RDMA device of it

  // True if a driver of the host makes a netdev and an RDMA device of it.
  bool has_own_driver() const;
  // True if a GUID is missing that can be given: the shown GUIDs count if there are any, else those
  // that it will show. Unknown is no.
  bool lacks_guid() const;
  // Those set at the PF; nothing where this kernel cannot say it.
  std::optional<node::Guids> pf_guids() const;
  // The GUIDs that it has or that are configured at the PF, each of the two by itself; none() if
  // one is missing.
  node::Guids guids() const;
};
// not_found where it is gone.
Result<VfState> read_vf_state(node::Kernel& kernel, const ib::PciAddress& vf);

// Why the host needs the function, as pools judge it too (lib/node/host_network.h). Nothing: it
// does not.
Result<std::optional<std::string>> host_use(node::Kernel& kernel, const ib::PciAddress& function);

// busy; `why`: "it has the IPoIB child c".
Error in_use(const std::string& why);

// busy, saying why, unless the VF is unused: its RDMA device and its interface are in the host's
// namespace, without children, and the host does not use it. The caller checks, under the VF's
// lock, that no record names it.
Status check_idle(node::Kernel& kernel, const VfState& vf);

}  // namespace ibpod::agent::prepare
