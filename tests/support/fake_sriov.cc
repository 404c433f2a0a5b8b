// The part of the model that is about SR-IOV: PFs, the number of their VFs, and the mode of the
// RDMA subsystem.
#include "tests/support/fake_kernel.h"

#include <algorithm>
#include <cerrno>

namespace ibpod::fake {

ib::PciAddress vf_address(const ib::PciAddress& pf, uint32_t vf) {
  const uint32_t place = vf + 1;  // device and function after the PF's
  const std::string device = {"01"[place / 128 % 2], "0123456789abcdef"[place / 8 % 16]};
  const std::string bus = pf.text().substr(0, 8);
  return ib::PciAddress::parse(bus + device + "." + std::to_string(place % 8)).value();
}

std::vector<ib::PciAddress> FakeNode::vfs_of(const ib::PciAddress& pf) const {
  std::map<uint32_t, ib::PciAddress> by_number;
  for (const auto& [address, function] : state.functions) {
    if (function.pf == pf) by_number.emplace(function.vf, address);
  }
  std::vector<ib::PciAddress> vfs;
  for (const auto& [number, address] : by_number) vfs.push_back(address);
  return vfs;
}

// The GUIDs that the driver was given for them before apply again, as mlx5 restores them
// (sriov_restore_guids, linux/drivers/net/ethernet/mellanox/mlx5/core/sriov.c).
void FakeNode::make_vfs(const ib::PciAddress& pf, uint32_t count) {
  for (uint32_t number = 0; number < count; ++number) {
    const ib::PciAddress address = vf_address(pf, number);
    add_vf(address, pf, number);
    PciFunction& made = function_state(address);
    PciFunction& above = function_state(pf);
    const VfPfSettings told = above.kept[number];
    above.kept.erase(number);
    made.node_guid = told.node_guid;
    made.port_guid = told.port_guid;
    made.policy = told.policy;
    if (above.autoprobe) (void)bind(address, *above.driver);  // the kernel goes on without it, too
  }
}

void FakeNode::remove_vfs(const ib::PciAddress& pf) {
  for (const ib::PciAddress& address : vfs_of(pf)) {
    const PciFunction& vf = function_state(address);
    function_state(pf).kept[vf.vf] = {vf.node_guid, vf.port_guid, vf.policy};
    vanish(address);
  }
}

void FakeNode::lose_power() {
  std::vector<ib::PciAddress> pfs;
  for (const auto& [address, function] : state.functions) {
    if (!function.pf) pfs.push_back(address);
  }
  for (const ib::PciAddress& pf : pfs) {
    for (const ib::PciAddress& vf : vfs_of(pf)) vanish(vf);
    function_state(pf).kept.clear();
    function_state(pf).autoprobe = true;
  }
  std::erase_if(state.namespaces, [](const auto& entry) { return entry.first != kHostId; });
  bound.clear();
}

// --- questions

Result<std::vector<ib::PciAddress>> FakeKernel::pfs() {
  return count_question("pfs", [&]() -> Result<std::vector<ib::PciAddress>> {
    std::vector<ib::PciAddress> all;
    for (const auto& [address, function] : state.functions) {
      if (!function.pf) all.push_back(address);
    }
    return all;
  });
}

Result<std::optional<node::Pf>> FakeKernel::pf(const ib::PciAddress& address) {
  return count_question("pf", [&]() -> Result<std::optional<node::Pf>> {
    const auto found = state.functions.find(address);
    if (found == state.functions.end() || found->second.pf) return std::optional<node::Pf>();
    const PciFunction& pf = found->second;
    return std::optional(node::Pf{address, pf.vendor, pf.device, pf.driver, pf.total_vfs,
                                  pf.autoprobe, vfs_of(address)});
  });
}

// --- orders

// In the order of the kernel's own checks (sriov_numvfs_store, linux/drivers/pci/iov.c).
Status FakeKernel::set_vf_count(const ib::PciAddress& pf, uint32_t count) {
  return count_order("set_vf_count", [&]() -> Status {
    const std::string what = "give " + pf.text() + " " + std::to_string(count) + " VFs";
    const auto found = state.functions.find(pf);
    const bool capable = found != state.functions.end() && !found->second.pf;
    if (!capable || found->second.total_vfs == 0) return Error::from_errno(ENOENT, what);
    if (count > found->second.total_vfs) {
      return Error(
          Code::invalid,
          what + ": its limit is " + std::to_string(found->second.total_vfs) + " (sriov_totalvfs)");
    }
    const size_t now = vfs_of(pf).size();
    if (count == now) return ok();
    if (!found->second.driver) return Error::from_errno(ENOENT, what);
    if (now != 0 && count != 0) return Error::from_errno(EBUSY, what);
    if (count == 0) remove_vfs(pf);
    make_vfs(pf, count);
    return ok();
  });
}

Status FakeKernel::set_autoprobe(const ib::PciAddress& pf, bool on) {
  return count_order("set_autoprobe", [&]() -> Status {
    const auto found = state.functions.find(pf);
    const bool capable = found != state.functions.end() && !found->second.pf;
    if (!capable || found->second.total_vfs == 0)
      return Error::from_errno(ENOENT, "turn autoprobe of " + pf.text());
    found->second.autoprobe = on;
    return ok();
  });
}

Status FakeKernel::set_rdma_netns_mode(nl::RdmaNetnsMode mode) {
  return count_order("set_rdma_netns_mode", [&]() -> Status {
    if (mode == state.rdma_mode) return ok();
    if (state.namespaces.size() > 1) return Error::from_errno(EBUSY, "set the RDMA namespace mode");
    state.rdma_mode = mode;
    return ok();
  });
}

}  // namespace ibpod::fake
