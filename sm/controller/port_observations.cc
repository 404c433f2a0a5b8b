#include "sm/controller/port_observations.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabric::Enforcement;
using fabric::Reason;

// Beyond it those that are not there now are forgotten: nodes may invent as many GUIDs as they
// like.
constexpr size_t kMostMet = 200'000;

// The switch port's table, where that drops what it does not hold.
const ib::PKeyTable* heeded_leaf(const Reading& reading) {
  if (!reading.leaf || !reading.leaf->inbound || !reading.leaf->outbound) return nullptr;
  const auto* const table = std::get_if<ib::PKeyTable>(&reading.leaf->table);
  return table == nullptr || table->empty() ? nullptr : table;
}

// Kept by the switch is a port whose every key it knows, and no other.
Enforcement enforcement(const Reading& reading, const WantedKeys& wanted) {
  if (!reading.leaf || !std::holds_alternative<ib::PKeyTable>(reading.leaf->table))
    return Enforcement::unknown;
  const ib::PKeyTable* const table = heeded_leaf(reading);
  if (table == nullptr) return Enforcement::hca;
  const Verdict verdict = judge(*table, wanted.anywhere());
  return verdict.good() ? Enforcement::leaf : Enforcement::hca;
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

Finding finding_of(Verdict verdict, uint64_t version) {
  Finding finding;
  finding.version = version;
  finding.verdict = std::move(verdict);
  if (finding.verdict.good()) {
    finding.kind = Finding::Kind::good;
  } else {
    finding.kind = Finding::Kind::wrong;
    finding.standing = standing_of(finding.verdict);
  }
  return finding;
}

// A switch port that drops what it does not hold, and does not hold what it should, or holds what
// the last one left.
void judge_leaf(const Reading& reading, const WantedKeys& wanted, Finding& finding) {
  const ib::PKeyTable* const table = heeded_leaf(reading);
  if (table == nullptr) return;
  const Verdict verdict = judge(*table, wanted.anywhere());
  if (verdict.good()) return;
  finding.kind = Finding::Kind::wrong;
  finding.leaf = true;
  finding.verdict = verdict;
  finding.standing = {verdict.foreign.empty() ? Reason::missing_key : Reason::foreign_key,
                      "the P_Key table of its switch port " + verdict.text()};
}

}  // namespace

void Sightings::take(const Reading& reading, uint64_t placed, uint64_t swept, Placements::Time at) {
  Sight& sight = ports_[reading.port];
  if (at < sight.at) return;
  sight = {reading, placed, swept, at};
}

bool Sightings::of_own_subnet() const {
  return !own_port_ || topology_->find(*own_port_) != nullptr;
}

void Sightings::take(std::shared_ptr<const fabric::Topology> topology) {
  if (topology == topology_) return;
  topology_ = std::move(topology);
  master_ = topology_->master();
  if (met_.size() > kMostMet) met_.clear();
  for (const fabric::SeenPort& port : topology_->ports()) met_.insert(port.guid);
  if (!topology_->whole()) return;
  std::erase_if(ports_, [&](const auto& port) { return topology_->find(port.first) == nullptr; });
}

const Sight* Sightings::of_port(ib::Guid port) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? nullptr : &found->second;
}

fabric::EndPort Sightings::end_port(ib::Guid port) const {
  const fabric::SeenPort* const seen = topology_->find(port);
  fabric::EndPort end_port{.guid = port};
  if (seen != nullptr) {
    end_port.node = seen->node;
    end_port.runs_sm = sm_port() == port;
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
  Finding finding = finding_of(judge(*table, wanted), sight->placed);
  finding.proof = fabric::Proof::port;
  finding.enforcement = enforcement(sight->reading, wanted);
  if (finding.kind == Finding::Kind::good) judge_leaf(sight->reading, wanted, finding);
  finding.drifted = finding.kind == Finding::Kind::wrong && sight->swept >= changed_in;
  return finding;
}

std::optional<Finding> Sightings::from_node(ib::Guid port, uint64_t changed_in,
                                            const WantedKeys& wanted) const {
  const NodeSight* const sight = of_node(port);
  if (sight == nullptr || sight->placed < changed_in) return std::nullopt;
  Finding finding = finding_of(nodes_.verdict(port, wanted), sight->placed);
  finding.proof = fabric::Proof::node;
  finding.drifted = finding.kind == Finding::Kind::wrong && sight->swept >= changed_in;
  return finding;
}

// The port itself goes before its node, which is believed only where the port cannot be asked.
Finding Sightings::find(ib::Guid port, uint64_t changed_in, const Wanted& wanted) const {
  const WantedKeys keys = wanted.of(end_port(port));
  const std::optional<Finding> seen = from_port(port, changed_in, keys);
  if (!seen) return {};
  // Of two ports with one GUID a node speaks of the one that it has.
  if (seen->kind != Finding::Kind::unseen || seen->standing.reason == Reason::duplicate)
    return *seen;
  return from_node(port, changed_in, keys).value_or(*seen);
}

}  // namespace ibpod::sm
