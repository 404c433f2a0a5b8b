#include "agent/sm_client/pf_port.h"

#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"

namespace ibpod::agent::sm_client {
namespace {

// The RDMA device of a PF; if it has several, the one with verbs.
Result<std::string> rdma_device(const sysfs::Sysfs& sysfs, const ib::PciAddress& pf) {
  const std::vector<std::string> names = TRY(sysfs::rdma_devices(sysfs, pf));
  if (names.empty()) return Error(Code::not_found, "it has no RDMA device");
  if (names.size() == 1) return names.front();
  const std::vector<std::string> nodes = TRY(sysfs::char_devices(sysfs, pf));
  const std::vector<std::string> with_verbs = sysfs::devices_with_verbs(sysfs, nodes);
  return with_verbs.empty() ? names.front() : with_verbs.front();
}

Result<PfPort> read(const sysfs::Sysfs& sysfs, const ib::PciAddress& device) {
  const std::optional<ib::PciAddress> pf = TRY(sysfs::pf_of(sysfs, device));
  PfPort port{pf.value_or(device), {}, {}, false};
  const std::string name = TRY(rdma_device(sysfs, port.pf));
  const ib::Port shown = TRY(sysfs::port_without_pkeys(sysfs, name, kFirstPort));
  port.guid = shown.guid;
  port.up = shown.state == ib::PortState::active;
  port.prefix = TRY(sysfs::subnet_prefix(sysfs, name, kFirstPort));
  return port;
}

}  // namespace

Result<PfPort> read_pf_port(const sysfs::Sysfs& sysfs, const ib::PciAddress& device) {
  Result<PfPort> port = read(sysfs, device);
  if (port) return port;
  return Error(Code::unavailable,
               "cannot read the PF of " + device.text() + ": " + port.error().text());
}

}  // namespace ibpod::agent::sm_client
