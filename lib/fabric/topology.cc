#include "lib/fabric/topology.h"

#include <algorithm>

namespace ibpod::fabric {
namespace {

bool before(const Port& one, const Port& other) { return one.guid < other.guid; }
bool same(const Port& one, const Port& other) { return one.guid == other.guid; }

}  // namespace

mad::Route Port::route() const {
  const bool waits = state >= ib::PortState::down && state <= ib::PortState::armed;
  const auto by_lid = mad::Route::to(lid);
  return by_lid && !waits ? *by_lid : path;
}

bool DiscoveredSm::is_master() const {
  const mad::SmInfo* const known = mad::value_of(info);
  return known != nullptr && known->state == mad::SmState::master;
}

Topology::Topology(Contents contents) : contents_(std::move(contents)) {
  auto& ports = contents_.ports;
  std::stable_sort(ports.begin(), ports.end(), before);
  ports.erase(std::unique(ports.begin(), ports.end(), same), ports.end());
}

const Port* Topology::find(ib::Guid port) const {
  Port wanted;
  wanted.guid = port;
  const auto found = std::lower_bound(ports().begin(), ports().end(), wanted, before);
  return found == ports().end() || found->guid != port ? nullptr : &*found;
}

std::optional<ib::Guid> Topology::master() const {
  const auto found = std::find_if(managers().begin(), managers().end(),
                                  [](const DiscoveredSm& one) { return one.is_master(); });
  return found == managers().end() ? std::nullopt : std::optional(found->port);
}

bool Topology::is_ambiguous(const Port& port) const {
  return duplicates().contains(port.guid) ||
         (port.switch_port && duplicates().contains(port.switch_port->switch_guid));
}

bool Topology::is_complete() const {
  return contents_.unanswered_count == 0 && !contents_.truncated && duplicates().empty();
}

std::string described(const Topology& topology, ib::Guid port) {
  const Port* seen = topology.find(port);
  return port.text() +
         (seen != nullptr && !seen->description.empty() ? " (\"" + seen->description + "\")" : "");
}

}  // namespace ibpod::fabric
