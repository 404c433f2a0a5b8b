#include "lib/fabric/topology.h"

#include <algorithm>

namespace ibpod::fabric {
namespace {

bool before(const SeenPort& one, const SeenPort& other) { return one.guid < other.guid; }
bool same(const SeenPort& one, const SeenPort& other) { return one.guid == other.guid; }

}  // namespace

mad::Route SeenPort::route() const {
  const bool waits = state >= ib::PortState::down && state <= ib::PortState::armed;
  const auto by_lid = mad::Route::to(lid);
  return by_lid && !waits ? *by_lid : path;
}

bool SeenManager::is_master() const {
  const mad::SmInfo* const known = mad::value_of(info);
  return known != nullptr && known->state == mad::SmState::master;
}

Topology::Topology(Contents contents) : contents_(std::move(contents)) {
  auto& ports = contents_.ports;
  std::stable_sort(ports.begin(), ports.end(), before);
  ports.erase(std::unique(ports.begin(), ports.end(), same), ports.end());
}

const SeenPort* Topology::find(ib::Guid port) const {
  SeenPort wanted;
  wanted.guid = port;
  const auto found = std::lower_bound(ports().begin(), ports().end(), wanted, before);
  return found == ports().end() || found->guid != port ? nullptr : &*found;
}

std::optional<ib::Guid> Topology::master() const {
  const auto found = std::find_if(managers().begin(), managers().end(),
                                  [](const SeenManager& one) { return one.is_master(); });
  return found == managers().end() ? std::nullopt : std::optional(found->port);
}

bool Topology::doubtful(const SeenPort& port) const {
  return duplicates().contains(port.guid) ||
         (port.leaf && duplicates().contains(port.leaf->switch_guid));
}

bool Topology::whole() const {
  return contents_.unseen_count == 0 && !contents_.cut_off && duplicates().empty();
}

}  // namespace ibpod::fabric
