#include "sm/steward/sightings.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Enforcement;
using fabric::Reason;

Enforcement enforcement(const Reading& reading, const WantedKeys& wanted) {
  if (!reading.leaf) return Enforcement::unknown;
  const auto* const table = std::get_if<ib::PKeyTable>(&reading.leaf->table);
  if (table == nullptr) return Enforcement::unknown;
  if (!reading.leaf->inbound || !reading.leaf->outbound) return Enforcement::hca;
  const auto held = [&](ib::PKey key) {
    return std::any_of(table->begin(), table->end(),
                       [&](ib::PKey found) { return found.same_partition(key); });
  };
  return std::all_of(wanted.keys.begin(), wanted.keys.end(), held) ? Enforcement::leaf
                                                                   : Enforcement::hca;
}

// Nothing: it says nothing of the port.
std::optional<fabric::Standing> standing_of(const NotRead& not_read) {
  switch (not_read.why) {
    case Unread::unreachable:
      return {{Reason::unreachable, "packets to it cannot be sent: " + not_read.text()}};
    case Unread::timeout:
      return {{Reason::timeout, "the port does not answer"}};
    case Unread::refused:
    case Unread::not_permitted:
    case Unread::malformed:
      return {{Reason::refused, "the port does not show its P_Key table: " + not_read.text()}};
    case Unread::port_unknown:
    case Unread::other_port:
      return {{Reason::port_unknown, "no port of the subnet has this GUID"}};
    case Unread::doubtful:
      return {{Reason::duplicate, "two ports of the subnet have this GUID"}};
    case Unread::deadline:
    case Unread::cancelled:
    case Unread::changed:
      return std::nullopt;
  }
  return std::nullopt;
}

// A key too many is the graver one.
fabric::Standing standing_of(const Verdict& verdict) {
  const Reason reason = verdict.foreign.empty() ? Reason::missing_key : Reason::foreign_key;
  return {reason, "its P_Key table " + verdict.text()};
}

std::optional<ib::Guid> master_of(const fabric::Topology& topology) {
  for (const fabric::SeenManager& manager : topology.managers()) {
    const mad::SmInfo* const info = mad::value_of(manager.info);
    if (info != nullptr && info->state == mad::SmState::master) return manager.port;
  }
  return std::nullopt;
}

Finding judged(const ib::PKeyTable& table, const WantedKeys& wanted, uint64_t version) {
  Finding finding;
  finding.version = version;
  finding.verdict = judge(table, wanted);
  if (finding.verdict.good()) {
    finding.kind = Finding::Kind::good;
  } else {
    finding.kind = Finding::Kind::wrong;
    finding.standing = standing_of(finding.verdict);
  }
  return finding;
}

}  // namespace

void Sightings::take(const Reading& reading, uint64_t placed, uint64_t swept, Placements::Time at) {
  ports_[reading.port] = {reading, placed, swept, at};
}

void Sightings::take(ib::Guid port, NodeSight sight) { nodes_[port] = std::move(sight); }

void Sightings::take(std::shared_ptr<const fabric::Topology> topology) {
  if (topology == topology_) return;
  topology_ = std::move(topology);
  master_ = master_of(*topology_);
  if (!topology_->whole()) return;
  std::erase_if(ports_, [&](const auto& port) { return topology_->find(port.first) == nullptr; });
}

const Sight* Sightings::of_port(ib::Guid port) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? nullptr : &found->second;
}

const NodeSight* Sightings::of_node(ib::Guid port) const {
  const auto found = nodes_.find(port);
  return found == nodes_.end() ? nullptr : &found->second;
}

fabric::EndPort Sightings::end_port(ib::Guid port) const {
  const fabric::SeenPort* const seen = topology_->find(port);
  fabric::EndPort end_port{.guid = port};
  if (seen != nullptr) {
    end_port.node = seen->node;
    end_port.runs_sm = master_ == port;
  }
  return end_port;
}

std::optional<Finding> Sightings::from_port(ib::Guid port, uint64_t changed_in,
                                            const WantedKeys& wanted) const {
  const Sight* const sight = of_port(port);
  if (sight == nullptr) return std::nullopt;
  const auto* const table = std::get_if<ib::PKeyTable>(&sight->reading.table);
  if (table == nullptr) {
    const auto standing = standing_of(std::get<NotRead>(sight->reading.table));
    if (!standing) return std::nullopt;
    Finding unseen;
    unseen.kind = Finding::Kind::unseen;
    unseen.standing = *standing;
    return unseen;
  }
  if (sight->placed < changed_in) return Finding{};
  Finding finding = judged(*table, wanted, sight->placed);
  finding.proof = fabric::Proof::port;
  finding.enforcement = enforcement(sight->reading, wanted);
  finding.drifted = finding.kind == Finding::Kind::wrong && sight->swept >= changed_in;
  return finding;
}

std::optional<Finding> Sightings::from_node(ib::Guid port, uint64_t changed_in,
                                            const WantedKeys& wanted) const {
  const NodeSight* const sight = of_node(port);
  if (sight == nullptr || sight->placed < changed_in) return std::nullopt;
  Finding finding = judged(sight->table, wanted, sight->placed);
  finding.proof = fabric::Proof::node;
  return finding;
}

// The port itself goes before its node, which is believed only where the port cannot be asked.
Finding Sightings::find(ib::Guid port, uint64_t changed_in, const Wanted& wanted) const {
  const WantedKeys keys = wanted.of(end_port(port));
  const std::optional<Finding> seen = from_port(port, changed_in, keys);
  if (seen && seen->kind != Finding::Kind::unseen) return *seen;
  const std::optional<Finding> told = from_node(port, changed_in, keys);
  if (told) return *told;
  return seen.value_or(Finding{});
}

}  // namespace ibpod::sm
