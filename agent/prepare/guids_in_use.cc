#include "agent/prepare/guids_in_use.h"

namespace ibpod::agent::prepare {

void GuidsInUse::add(const ib::PciAddress& owner, ib::Guid guid) {
  if (!guid.none()) owners_.emplace(guid, owner);
}

void GuidsInUse::add(const ib::PciAddress& vf, const node::Guids& guids) {
  add(vf, guids.node);
  add(vf, guids.port);
}

Status GuidsInUse::scan_function(const ib::PciAddress& address) {
  const std::optional<node::Function> function = TRY(kernel_.function(address));
  if (!function) return ok();
  const std::vector<node::RdmaDevice> devices = TRY(kernel_.rdma_devices(node::kHost, address));
  for (const node::RdmaDevice& device : devices)
    add(address, node::Guids{device.node_guid, device.port_guid});
  if (!function->pf) return ok();
  // If the PF cannot be asked now, no process can read a GUID that was set through it.
  const Result<nl::VfSettings> settings = kernel_.vf_settings(*function);
  if (settings) add(address, node::Guids{settings->node_guid, settings->port_guid});
  const bool silent = settings || settings.error().code() == Code::unsupported ||
                      settings.error().code() == Code::unavailable;
  if (silent) return ok();
  return settings.error();
}

Status GuidsInUse::scan_records() {
  const std::vector<node::RecordName> names = TRY(deps_.records.all());
  for (const node::RecordName& name : names) {
    const Result<node::Record> record = deps_.records.read(name);
    if (!record) continue;  // damaged: its device is looked at like any other
    if (record->boot_id != deps_.boot_id) continue;
    const ib::PciAddress& device = record->device;
    if (record->spec.guids) add(device, *record->spec.guids);
    if (record->original.guids) add(device, *record->original.guids);
    if (record->original.pf_configured) add(device, *record->original.pf_configured);
  }
  return ok();
}

Status GuidsInUse::scan() {
  owners_.clear();
  const std::vector<ib::PciAddress> pfs = TRY(kernel_.pfs());
  for (const ib::PciAddress& address : pfs) {
    TRY(scan_function(address));
    const std::optional<node::Pf> pf = TRY(kernel_.pf(address));
    if (!pf) continue;
    for (const ib::PciAddress& vf : pf->vfs) TRY(scan_function(vf));
  }
  TRY(scan_records());
  scanned_ = true;
  return ok();
}

Status GuidsInUse::check(const ib::PciAddress& vf, ib::Guid guid) {
  if (!scanned_) TRY(scan().during("search for GUIDs in use"));
  const auto [first, last] = owners_.equal_range(guid);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second == vf) continue;
    return Error(Code::exists, "the GUID " + guid.text() + " for " + vf.text() +
                                   " is already in use by " + entry->second.text() +
                                   ": give one of them another GUID (ip link set PF vf N "
                                   "node_guid ... port_guid ...), and bind it to its driver again");
  }
  return ok();
}

}  // namespace ibpod::agent::prepare
