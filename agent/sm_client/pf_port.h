// The port by which a PF is on its fabric, as sysfs has it now.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/pci_address.h"
#include "lib/sysfs/sysfs.h"

namespace ibpod::agent::sm_client {

// By which a function is on its fabric.
inline constexpr unsigned kFirstPort = 1;

struct PfPort {
  ib::PciAddress pf;
  ib::Guid guid;
  // The first half of its GID 0. The subnet manager sets it; while the port is not up it may be
  // any.
  ib::Guid prefix;
  bool up = false;  // ACTIVE
};

// The first port of a PF, or of the PF of a VF. unavailable if it is not visible.
Result<PfPort> read_pf_port(const sysfs::Sysfs& sysfs, const ib::PciAddress& device);

}  // namespace ibpod::agent::sm_client
