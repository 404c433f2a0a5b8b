// The part of LinuxKernel that is about PFs, and about the mode of the RDMA subsystem.
#include "lib/node/linux_kernel.h"
#include "lib/sysfs/pci.h"
#include "lib/sysfs/sriov.h"

namespace ibpod::node {

Result<std::vector<ib::PciAddress>> LinuxKernel::pfs() {
  return sysfs::physical_functions(host_sysfs_);
}

Result<std::optional<Pf>> LinuxKernel::pf(const ib::PciAddress& address) {
  const sysfs::Sysfs& sysfs = host_sysfs_;
  if (!sysfs::exists(sysfs, address)) return std::optional<Pf>();
  const std::optional<ib::PciAddress> above = TRY(sysfs::pf_of(sysfs, address));
  if (above) return std::optional<Pf>();
  const sysfs::PciId id = TRY(sysfs::pci_id(sysfs, address));
  Pf pf;
  pf.address = address;
  pf.vendor = id.vendor;
  pf.device = id.device;
  pf.driver = TRY(sysfs::driver(sysfs, address));
  pf.total_vfs = TRY(sysfs::total_vfs(sysfs, address));
  pf.autoprobe = TRY(sysfs::autoprobe(sysfs, address));
  pf.vfs = TRY(sysfs::vfs_of(sysfs, address));
  return std::optional<Pf>(std::move(pf));
}

Status LinuxKernel::set_vf_count(const ib::PciAddress& pf, uint32_t count) {
  return sysfs::set_vf_count(host_sysfs_, pf, count);
}

Status LinuxKernel::set_autoprobe(const ib::PciAddress& pf, bool on) {
  return sysfs::set_autoprobe(host_sysfs_, pf, on);
}

Status LinuxKernel::set_rdma_netns_mode(nl::RdmaNetnsMode mode) {
  nl::Socket* const rdma = TRY(host_->rdma());
  return nl::set_rdma_netns_mode(*rdma, mode);
}

}  // namespace ibpod::node
