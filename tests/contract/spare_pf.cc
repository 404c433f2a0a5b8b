#include "tests/contract/spare_pf.h"

#include "lib/node/names.h"
#include "lib/node/vf.h"

namespace ibpod::contract {
namespace {

using node::kHost;

constexpr Duration kTimeout{15000};

struct Devices {
  node::RdmaDevice rdma;
  node::Netdev netdev;
};

// They appear some time after a bind.
Result<Devices> devices_of(node::Kernel& kernel, const ib::PciAddress& vf) {
  Devices found;
  const bool there = TRY(wait_until(kernel, Deadline::in(kTimeout), [&]() -> Result<bool> {
    const auto devices = TRY(kernel.rdma_devices(kHost, vf));
    const auto netdev = TRY(node::own_netdev(kernel, kHost, vf));
    if (devices.empty() || !netdev) return false;
    found = {devices.front(), *netdev};
    return true;
  }));
  if (there) return found;
  return Error(Code::unavailable, vf.text() + " has no devices in the host's namespace");
}

ib::Guid settable(ib::Guid guid) { return guid.none() ? ib::kNoGuid : guid; }

}  // namespace

Result<SparePf::Vf> SparePf::look_at(node::Kernel& kernel, const ib::PciAddress& address) {
  Vf vf;
  const std::optional<node::Function> function = TRY(kernel.function(address));
  if (!function || !function->driver)
    return Error(Code::unavailable, address.text() + " has no driver");
  vf.function = *function;
  vf.pf_configured = TRY(kernel.vf_settings(vf.function));
  const Devices devices = TRY(devices_of(kernel, address));
  vf.rdma_device = devices.rdma.name;
  vf.netdev = devices.netdev.name;
  vf.altnames = devices.netdev.altnames;
  return vf;
}

Result<SparePf> SparePf::look(node::Kernel& kernel, const ib::PciAddress& pf) {
  SparePf spare;
  const std::optional<node::Pf> found = TRY(kernel.pf(pf));
  if (!found) return Error(Code::not_found, pf.text() + " is no PF");
  spare.pf_ = *found;
  for (const ib::PciAddress& address : spare.pf_.vfs) {
    Vf vf = TRY(look_at(kernel, address));
    spare.vfs_.push_back(std::move(vf));
  }
  return spare;
}

Status SparePf::rebind(node::Kernel& kernel, const Vf& vf) {
  const ib::PciAddress& address = vf.function.address;
  TRY(kernel.set_driver(address, std::nullopt));
  TRY(kernel.set_vf_guids(vf.function, settable(vf.pf_configured.node_guid),
                          settable(vf.pf_configured.port_guid)));
  TRY(kernel.set_vf_policy(vf.function, vf.pf_configured.policy));
  TRY(kernel.set_driver(address, vf.function.driver));
  TRY(devices_of(kernel, address));
  return ok();
}

Status SparePf::rename(node::Kernel& kernel, const Vf& vf, const std::string& rdma_device,
                       const node::NetdevChange& change) {
  const Devices now = TRY(devices_of(kernel, vf.function.address));
  TRY(kernel.rename_rdma(kHost, now.rdma.name, rdma_device));
  return kernel.change_netdev(kHost, now.netdev.index, change);
}

Status SparePf::park(node::Kernel& kernel, const Vf& vf) {
  const std::string name = node::temporary_name(vf.function.address);
  return rename(kernel, vf, name, {.name = name, .altnames = std::vector<std::string>()});
}

Status SparePf::put_back(node::Kernel& kernel) const {
  const std::optional<node::Pf> now = TRY(kernel.pf(pf_.address));
  if (!now) return Error(Code::not_found, pf_.address.text() + " is gone");
  TRY(kernel.set_autoprobe(pf_.address, true));
  if (now->vfs.size() != pf_.vfs.size()) {
    TRY(kernel.set_vf_count(pf_.address, 0));
    TRY(kernel.set_vf_count(pf_.address, static_cast<uint32_t>(pf_.vfs.size())));
  }
  for (const Vf& vf : vfs_) TRY(rebind(kernel, vf));
  for (const Vf& vf : vfs_) TRY(park(kernel, vf));
  for (const Vf& vf : vfs_)
    TRY(rename(kernel, vf, vf.rdma_device, {.name = vf.netdev, .altnames = vf.altnames}));
  return kernel.set_autoprobe(pf_.address, pf_.autoprobe);
}

}  // namespace ibpod::contract
