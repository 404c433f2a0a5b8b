#include "sm/bindings/vf_ports.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ibpod::sm::bindings {
namespace {

using engine::VfPort;

// The PFs that bindings of VFs name, by node. Bindings are sorted by node, and most of a node name
// the same few PFs.
using PfsByNode = std::map<std::string, std::set<ib::Guid>>;

bool is_of_vf(const fabric::Binding& binding) { return binding.kind == fabric::Kind::vf; }

// A node that names another node's port does not count, so that it takes no PF from its owner.
PfsByNode usable_pfs(const state::Records& records, const NodeRegistry& nodes) {
  PfsByNode named;
  for (const auto& [attachment, record] : records.bindings)
    if (is_of_vf(record.binding) && !record.binding.pf_guid.none())
      named[attachment.node].insert(record.binding.pf_guid);
  std::map<ib::Guid, size_t> nodes_of_pf;
  for (auto& [node, pfs] : named) {
    std::erase_if(pfs, [&, &name = node](ib::Guid pf) {
      return nodes.owner_of(pf, name) == PortOwner::other_node;
    });
    for (const ib::Guid pf : pfs) ++nodes_of_pf[pf];
  }
  for (auto& entry : named)
    std::erase_if(entry.second, [&](ib::Guid pf) { return nodes_of_pf.at(pf) > 1; });
  return named;
}

}  // namespace

std::vector<VfPort> vf_ports(const state::Records& records, const NodeRegistry& nodes) {
  const PfsByNode usable = usable_pfs(records, nodes);
  std::map<ib::Guid, ib::Guid> pf_of;
  for (const auto& [attachment, record] : records.bindings) {
    const fabric::Binding& binding = record.binding;
    if (!is_of_vf(binding)) continue;
    const auto found = usable.find(attachment.node);
    const bool known = found != usable.end() && found->second.contains(binding.pf_guid);
    pf_of[binding.guid] = known ? binding.pf_guid : ib::Guid();
  }
  std::vector<VfPort> ports;
  for (const auto& [vf, pf] : pf_of) ports.push_back({pf, vf});
  std::sort(ports.begin(), ports.end());
  return ports;
}

}  // namespace ibpod::sm::bindings
