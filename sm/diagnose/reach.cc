#include "sm/diagnose/reach.h"

#include <algorithm>
#include <optional>
#include <set>

namespace ibpod::sm::diagnose {
namespace {

// The keys of one partition in a list of keys.
struct Holding {
  bool limited = false;
  bool full = false;
  bool any() const { return limited || full; }
};

// One of the two ports in one partition.
struct Side {
  std::string name;
  Holding wanted;
  std::optional<Holding> table;  // nothing: not known
  bool filtered = false;         // a switch port that enforces partitions is in the way
  std::optional<Holding> leaf;   // the switch port's table; nothing: not known
  std::string obstacle;  // no traffic passes, or nothing is known; then the keys do not matter

  bool is_member() const { return wanted.any() || (table && table->any()); }
};

Holding of(const std::vector<ib::PKey>& keys, uint16_t partition) {
  Holding holding;
  for (const ib::PKey key : keys) {
    if (key.partition() != partition) continue;
    (key.membership() == ib::Membership::full ? holding.full : holding.limited) = true;
  }
  return holding;
}

std::optional<Holding> of(const ReadTables& tables, ib::Guid port, uint16_t partition) {
  const auto found = tables.find(port);
  if (found == tables.end()) return std::nullopt;
  return of(found->second.keys, partition);
}

std::string obstacle_of(const ReachEnd& end, const FabricSnapshot& snapshot) {
  const fabric::Port* seen = snapshot.topology.find(end.port);
  if (snapshot.topology.duplicates().contains(end.port) ||
      (seen != nullptr && snapshot.topology.is_ambiguous(*seen)))
    return "not known: the GUID of " + end.name + " or of its switch exists twice";
  if (seen == nullptr || seen->state == ib::PortState::active ||
      seen->state == ib::PortState::unknown)
    return "";
  return "not now: the port of " + end.name + " is " + std::string(name(seen->state));
}

bool filtered(ib::Guid port, const FabricSnapshot& snapshot) {
  const fabric::Port* seen = snapshot.topology.find(port);
  if (seen == nullptr || !seen->switch_port || !seen->switch_port->enforcement) return false;
  const auto& bits = *seen->switch_port->enforcement;
  return bits.partition_cap > 0 && (bits.inbound || bits.outbound);
}

Side side_of(const ReachEnd& end, uint16_t partition, const FabricSnapshot& snapshot) {
  Side side;
  side.name = end.name;
  side.wanted = of(snapshot.desired.of(end_port(snapshot, end.port)).keys, partition);
  side.table = of(snapshot.tables, end.port, partition);
  side.filtered = filtered(end.port, snapshot);
  side.leaf = of(snapshot.switch_tables, end.port, partition);
  side.obstacle = obstacle_of(end, snapshot);
  return side;
}

// Why this side cannot reach another one; empty if it can.
std::string fault_of(const Side& side) {
  if (!side.obstacle.empty()) return side.obstacle;
  if (!side.table) return "not known: the P_Key table of " + side.name + " has not been read";
  if (!side.table->any())
    return "not now: the P_Key table of " + side.name + " lacks the key, which it should have";
  if (!side.filtered) return "";
  if (!side.leaf)
    return "not known: the P_Key table of the switch port of " + side.name + " has not been read";
  if (!side.leaf->any())
    return "not now: the switch port of " + side.name + " enforces partitions and lacks the key";
  return "";
}

std::string membership(const Holding& holding) {
  if (holding.full && holding.limited) return "full and limited";
  return holding.full ? "full" : "limited";
}

std::string member(const Side& side) {
  const bool unexpected = !side.wanted.any() || (side.table->full && !side.wanted.full);
  return side.name + " is a " + membership(*side.table) + " member" +
         (unexpected ? ", which it should not be" : "");
}

// The result if both sides are members.
std::string verdict(const Side& one, const Side& other) {
  for (const Side* side : {&one, &other}) {
    const std::string why_not = fault_of(*side);
    if (!why_not.empty()) return why_not;
  }
  if (!one.table->full && !other.table->full) {
    for (const Side* side : {&one, &other})
      if (side->wanted.full)
        return "not now: the P_Key table of " + side->name + " holds only the limited key";
    return "no: both are limited members; at least one must be full";
  }
  if (one.filtered && other.filtered && !one.leaf->full && !other.leaf->full)
    return "not now: the switch ports of both hold only the limited key";
  return "yes: " + member(one) + ", " + member(other);
}

void collect(ib::Guid port, const FabricSnapshot& snapshot, std::set<uint16_t>& partitions) {
  for (const ib::PKey key : snapshot.desired.of(end_port(snapshot, port)).keys)
    partitions.insert(key.partition());
  const auto found = snapshot.tables.find(port);
  if (found == snapshot.tables.end()) return;
  for (const ib::PKey key : found->second.keys)
    if (key.partition() != 0) partitions.insert(key.partition());
}

std::string named(uint16_t number, const FabricSnapshot& snapshot) {
  const ib::PKey pkey{number};
  for (const fabric::PartitionDefinition& definition : snapshot.partitions)
    if (definition.pkey == pkey) return definition.name + " (" + pkey.text() + ")";
  return pkey.text() + " (unknown to ibpod-sm)";
}

}  // namespace

std::vector<std::string> reach(const ReachEnd& one, const ReachEnd& other,
                               const FabricSnapshot& snapshot) {
  // 0x7fff is the greatest number, so it comes last.
  std::set<uint16_t> partitions;
  for (const ReachEnd* end : {&one, &other}) collect(end->port, snapshot, partitions);
  std::vector<std::string> sentences;
  if (one.port == other.port)
    sentences.push_back(one.name + " and " + other.name + " use the same port and its P_Key table");
  bool common = false;
  for (const uint16_t partition : partitions) {
    const Side first = side_of(one, partition, snapshot);
    const Side second = side_of(other, partition, snapshot);
    if (!first.is_member() || !second.is_member()) continue;
    const bool is_default = partition == fabric::kDefaultPKey.value();
    common |= !is_default;
    if (is_default && !common)
      sentences.push_back(one.name + " and " + other.name + " share only the default partition");
    sentences.push_back(named(partition, snapshot) + ": " + verdict(first, second));
  }
  return sentences;
}

}  // namespace ibpod::sm::diagnose
