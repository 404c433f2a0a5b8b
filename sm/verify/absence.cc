#include "sm/verify/absence.h"

#include "sm/verify/presence.h"

#include <algorithm>

namespace ibpod::sm::verify {
namespace {

using fabric::Binding;
using fabric::Condition;
using fabric::Reason;

bool has_virtual_ports(const fabric::Topology& topology) {
  const auto& ports = topology.ports();
  return std::any_of(ports.begin(), ports.end(),
                     [](const fabric::Port& port) { return port.virtualized; });
}

// The PF of the binding if its VF is a virtual port, which is never on the subnet; else nullptr.
const fabric::Port* pf_of_virtual_port(const Binding& binding, const fabric::Topology& topology) {
  const fabric::Port* const pf = topology.find(binding.pf_guid);
  return binding.kind == fabric::Kind::vf && pf != nullptr && pf->virtualized ? pf : nullptr;
}

// A virtual port is never on the subnet, even while it is in use.
bool is_visible_while_bound(const Binding& binding, const fabric::Topology& topology) {
  const fabric::Port* const pf = topology.find(binding.pf_guid);
  return binding.kind == fabric::Kind::vf && pf != nullptr && !pf->virtualized;
}

// A virtual port is never on the subnet and may still exist, so its PF must be absent, too.
bool is_released_with_node(const Binding& binding, const AbsenceSources& sources) {
  const fabric::Topology& topology = sources.observations.topology();
  if (!sources.requests.is_being_forgotten(binding.attachment.node)) return false;
  if (binding.kind == fabric::Kind::child || is_visible_while_bound(binding, topology)) return true;
  return binding.pf_guid.none() ? !has_virtual_ports(topology)
                                : topology.find(binding.pf_guid) == nullptr;
}

// The pod is gone, and the port has the GUID that it requested.
bool is_released_request(const Binding* binding) {
  return binding->guid_requested && binding->state == fabric::BindingState::releasing;
}

}  // namespace

Absence classify_absence(ib::Guid port, Reason reason, const AbsenceSources& sources) {
  const auto& [observations, requests, engine] = sources;
  if (!is_absent(observations, port)) return Absence::nothing;
  const fabric::Topology& topology = observations.topology();
  const uint64_t changed_in = requests.changed_in(port);
  const auto last_scan = observations.last_scan();
  const bool scanned_since = last_scan && engine.at(*last_scan).swept >= changed_in;
  const auto bindings = requests.bindings_on(port);
  const auto every = [&](const auto& holds_for) {
    return !bindings.empty() && std::all_of(bindings.begin(), bindings.end(), holds_for);
  };
  const bool reported = observations.find_node_report(port) != nullptr;
  const bool would_be_seen = std::all_of(bindings.begin(), bindings.end(), [&](const Binding* one) {
    return is_visible_while_bound(*one, topology);
  });
  if (reason == Reason::port_unknown) {
    // The port of a virtual machine that does not run is not on the subnet.
    if (!reported && scanned_since && would_be_seen && requests.needs_no_proof(port))
      return Absence::needs_no_proof;
    // The port belongs to a node that is being forgotten.
    if (engine.swept() >= changed_in &&
        every([&](const Binding* one) { return is_released_with_node(*one, sources); }))
      return Absence::holds_no_key;
    // The port has a GUID requested by a pod: the VF never got it, or has its own GUID back, as
    // after a reboot. No observation could ever prove that its keys have been removed.
    if (!reported && scanned_since && would_be_seen && every(is_released_request))
      return Absence::holds_no_key;
  }
  // OpenSM writes a port's table when it finds the port. If the port was present between two scans,
  // OpenSM corrects its table at its return, before it carries traffic (docs/opensm-notes.md).
  // Virtual ports are never on the subnet.
  if (engine.capabilities().writes && scanned_since && !has_virtual_ports(topology))
    return Absence::holds_none_new;
  return Absence::nothing;
}

Condition explain_absence(ib::Guid port, const Condition& condition,
                          const AbsenceSources& sources) {
  if (condition.reason != Reason::port_unknown) return condition;
  const fabric::Topology& topology = sources.observations.topology();
  for (const Binding* const binding : sources.requests.bindings_on(port)) {
    const fabric::Port* const pf = pf_of_virtual_port(*binding, topology);
    if (pf == nullptr) continue;
    return {Reason::vport,
            "the VF is a virtual port of " + fabric::described(topology, pf->guid) +
                (sources.engine.capabilities().serves_vports
                     ? ", whose table only its node can read, and the node has not reported it: "
                       "check its agent (`ibpodctl doctor` on the node)"
                     : ", and this subnet manager does not serve virtual ports; use NVIDIA's "
                       "OpenSM with virt_enabled 2, or UFM")};
  }
  if (sources.observations.has_disappeared(port))
    return {Reason::port_down, "the port has left the subnet: its link or its node is down"};
  return condition;
}

}  // namespace ibpod::sm::verify
