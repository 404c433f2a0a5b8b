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

  // Whether a driver of the host's makes a netdev and an RDMA device of it.
  bool has_own_driver() const;
  // Whether there is a GUID missing that can be given: what it shows counts where it shows any,
  // else what it will show. Unknown is no.
  bool lacks_guid() const;
  // What it has or was told already, half by half; none() where a half is missing.
  node::Guids guids() const;
};
// not_found where it is gone.
Result<VfState> read_vf_state(node::Kernel& kernel, const ib::PciAddress& vf);

// Why the host needs the function, as pools judge it too (lib/node/host_network.h). Nothing: it
// does not.
Result<std::optional<std::string>> host_use(node::Kernel& kernel, const ib::PciAddress& function);

// busy, saying why, unless the VF is unused: its RDMA device and its interface are in the host's
// namespace, without children, and the host does not use it. The caller checks, under the VF's
// lock, that no record names it.
Status check_idle(node::Kernel& kernel, const VfState& vf);

}  // namespace ibpod::agent::prepare
