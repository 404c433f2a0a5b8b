#include "agent/prepare/vf_state.h"

#include "lib/node/host_network.h"
#include "lib/node/vf.h"

#include <map>

namespace ibpod::agent::prepare {
namespace {

using node::kHost;

ib::Guid first_of(ib::Guid one, ib::Guid other) { return one.none() ? other : one; }

}  // namespace

Error in_use(const std::string& why) { return Error(Code::busy, "it is in use: " + why); }

bool VfState::has_own_driver() const {
  return function.driver.has_value() && !node::is_vfio(*function.driver);
}

std::optional<node::Guids> VfState::pf_guids() const {
  if (!pf_configured) return std::nullopt;
  return node::Guids{pf_configured->node_guid, pf_configured->port_guid};
}

node::Guids VfState::guids() const {
  const node::Guids now = shown.value_or(node::Guids{});
  const std::optional<node::Guids> next = pf_guids();
  if (!next) return now;
  return {first_of(next->node, now.node), first_of(next->port, now.port)};
}

bool VfState::lacks_guid() const {
  if (has_own_driver()) return shown && shown->none();
  return pf_configured && pf_guids()->none();
}

Result<VfState> read_vf_state(node::Kernel& kernel, const ib::PciAddress& vf) {
  VfState state;
  std::optional<node::Function> function = TRY(kernel.function(vf));
  if (!function) return Error(Code::not_found, vf.text() + " is gone");
  state.function = std::move(*function);
  const Result<nl::VfSettings> settings = kernel.vf_settings(state.function);
  if (!settings && settings.error().code() != Code::unsupported) return settings.error();
  if (settings) state.pf_configured = *settings;
  if (state.has_own_driver()) state.shown = TRY(node::own_guids(kernel, kHost, vf));
  return state;
}

Result<std::optional<std::string>> host_use(node::Kernel& kernel, const ib::PciAddress& function) {
  const node::HostNetwork network = TRY(kernel.host_network());
  const std::map<std::string, std::string> needed = node::needed_netdevs(network);
  const std::vector<node::Netdev> netdevs = TRY(kernel.netdevs(kHost, function));
  for (const node::Netdev& netdev : netdevs) {
    const auto use = needed.find(netdev.name);
    if (use != needed.end()) return std::optional(use->second);
  }
  return std::optional<std::string>();
}

Status check_idle(node::Kernel& kernel, const VfState& vf) {
  if (!vf.shown) return in_use("its RDMA device is not in the host's namespace");
  const std::vector<node::Netdev> netdevs = TRY(kernel.netdevs(kHost, vf.function.address));
  if (netdevs.empty()) return in_use("its interface is not in the host's namespace");
  for (const node::Netdev& netdev : netdevs) {
    if (netdev.parent) return in_use("it has the IPoIB child " + netdev.name);
  }
  const std::optional<std::string> use = TRY(host_use(kernel, vf.function.address));
  return use ? Status(in_use(*use)) : ok();
}

}  // namespace ibpod::agent::prepare
