#include "agent/prepare/guids_in_use.h"

namespace ibpod::agent {

void GuidsInUse::add(const ib::PciAddress& owner, ib::Guid guid) {
  if (!guid.none()) owners_.emplace(guid, owner);
}

void GuidsInUse::add(const ib::PciAddress& vf, const node::Guids& guids) {
  add(vf, guids.node);
  add(vf, guids.port);
}

Status GuidsInUse::look_at_function(const ib::PciAddress& address) {
  const std::optional<node::Function> function = TRY(kernel_.function(address));
  if (!function) return ok();
  const std::vector<node::RdmaDevice> devices = TRY(kernel_.rdma_devices(node::kHost, address));
  for (const node::RdmaDevice& device : devices)
    add(address, node::Guids{device.node_guid, device.port_guid});
  if (!function->pf) return ok();
  // A PF that cannot be asked now has told nobody anything that could be read.
  const Result<nl::VfSettings> told = kernel_.vf_settings(*function);
  if (told) add(address, node::Guids{told->node_guid, told->port_guid});
  const bool silent =
      told || told.error().code() == Code::unsupported || told.error().code() == Code::unavailable;
  if (silent) return ok();
  return told.error();
}

Status GuidsInUse::look_at_records() {
  const std::vector<node::RecordName> names = TRY(node_.records.all());
  for (const node::RecordName& name : names) {
    const Result<node::Record> record = node_.records.read(name);
    if (!record) continue;  // damaged: its device is looked at like any other
    if (record->boot_id != node_.boot_id) continue;
    const ib::PciAddress& device = record->device;
    if (record->wanted.guids) add(device, *record->wanted.guids);
    if (record->found.guids) add(device, *record->found.guids);
    if (record->found.told) add(device, *record->found.told);
  }
  return ok();
}

Status GuidsInUse::look() {
  owners_.clear();
  const std::vector<ib::PciAddress> pfs = TRY(kernel_.pfs());
  for (const ib::PciAddress& address : pfs) {
    TRY(look_at_function(address));
    const std::optional<node::Pf> pf = TRY(kernel_.pf(address));
    if (!pf) continue;
    for (const ib::PciAddress& vf : pf->vfs) TRY(look_at_function(vf));
  }
  TRY(look_at_records());
  looked_ = true;
  return ok();
}

Status GuidsInUse::check(const ib::PciAddress& vf, ib::Guid guid) {
  if (!looked_) TRY(look().during("look for GUIDs that are in use"));
  const auto [first, last] = owners_.equal_range(guid);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second == vf) continue;
    return Error(Code::exists, "the GUID " + guid.text() + ", which " + vf.text() +
                                   " would get, is in use by " + entry->second.text() +
                                   ": give one of them another GUID (ip link set PF vf N "
                                   "node_guid ... port_guid ...), and bind it to its driver again");
  }
  return ok();
}

}  // namespace ibpod::agent
