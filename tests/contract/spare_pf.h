// A PF of the machine whose VFs a case may remove and make again: what it was like, and how it is
// so again.
#pragma once

#include "lib/node/kernel.h"

#include <string>
#include <vector>

namespace ibpod::contract {

class SparePf {
 public:
  // unavailable unless each of its VFs is bound and has its devices in the host's namespace.
  static Result<SparePf> look(node::Kernel& kernel, const ib::PciAddress& pf);
  // Restores the number of VFs, autoprobe, the GUIDs configured at the PF for each (a GUID that was
  // not configured before becomes all ones), drivers, and the names of their devices.
  Status put_back(node::Kernel& kernel) const;

 private:
  struct Vf {
    node::Function function;
    nl::VfSettings pf_configured;
    std::string rdma_device;
    std::string netdev;
    std::vector<std::string> altnames;
  };
  static Result<Vf> look_at(node::Kernel& kernel, const ib::PciAddress& address);
  static Status rebind(node::Kernel& kernel, const Vf& vf);
  // Two VFs may have each other's names: all step aside first.
  static Status park(node::Kernel& kernel, const Vf& vf);
  static Status rename(node::Kernel& kernel, const Vf& vf, const std::string& rdma_device,
                       const node::NetdevChange& change);

  node::Pf pf_;
  std::vector<Vf> vfs_;
};

}  // namespace ibpod::contract
