// The nodes that tests start from.
#include "tests/support/fake_kernel.h"

#include <cstdlib>

namespace ibpod::fake {

ib::PciAddress pf_address(unsigned pf) {
  return ib::PciAddress::parse("0000:" + std::string(1, '3') + "bcdef"[pf] + ":00.0").value();
}

ib::PciAddress vf_address(unsigned pf, unsigned vf) { return vf_address(pf_address(pf), vf); }

ib::Guid pf_guid(unsigned pf) { return ib::Guid(0x02005e1000000000 | uint64_t{pf} << 16); }
ib::Guid vf_guid(unsigned pf, unsigned vf) { return ib::Guid(pf_guid(pf).value() + vf + 1); }

namespace {

void add_vfs(FakeKernel& kernel, unsigned pf, unsigned vfs) {
  for (unsigned vf = 0; vf < vfs; ++vf) {
    const ib::PciAddress address = vf_address(pf, vf);
    kernel.add_vf(address, pf_address(pf), vf);
    PciFunction& function = kernel.function_state(address);
    function.node_guid.value = vf_guid(pf, vf);
    function.port_guid.value = vf_guid(pf, vf);
    function.policy = nl::LinkPolicy::automatic;
    if (!kernel.bind(address, "mlx5_core")) std::abort();
    for (auto& [name, interface] : kernel.state.namespaces[kHostId].interfaces) {
      if (interface.function == address)
        interface.altnames = {"ibp" + std::to_string(59 + pf) + "s0v" + std::to_string(vf)};
    }
  }
}

}  // namespace

FakeKernel node_with(unsigned pfs, unsigned vfs) {
  FakeKernel kernel;
  for (unsigned pf = 0; pf < pfs; ++pf) {
    kernel.add_pf(pf_address(pf), pf_guid(pf));
    if (!kernel.bind(pf_address(pf), "mlx5_core")) std::abort();
  }
  for (unsigned pf = 0; pf < pfs; ++pf) add_vfs(kernel, pf, vfs);
  kernel.settle();
  return kernel;
}

FakeKernel one_vf_node() { return node_with(1, 1); }

FakeKernel fresh_vf_node() {
  FakeKernel kernel = node_with(1, 0);
  kernel.add_vf(vf_address(0, 0), pf_address(0), 0);
  if (!kernel.bind(vf_address(0, 0), "mlx5_core")) std::abort();
  return kernel;
}

}  // namespace ibpod::fake
