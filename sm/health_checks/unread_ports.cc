#include "sm/health_checks/checks.h"

#include <algorithm>
#include <set>

namespace ibpod::sm::health_checks {
namespace {

using fabric::Port;

enum class Leaf { enforces, passes, unknown };

Leaf leaf_of(const Port& port) {
  if (!port.switch_port || !port.switch_port->enforcement) return Leaf::unknown;
  return port.switch_port->enforcement->strict() ? Leaf::enforces : Leaf::passes;
}

struct Ports {
  size_t count = 0;
  std::set<ib::Guid> switches = {};
  std::string text(const fabric::Topology& topology) const {
    std::vector<std::string> names;
    for (const ib::Guid guid : switches) names.push_back(tables::described(topology, guid));
    return names.empty() ? ""
                         : " (of the " + std::string(names.size() == 1 ? "switch " : "switches ") +
                               some(names) + ")";
  }
};

std::string text(const fabric::UnansweredQuery& unseen) {
  return unseen.path.text() + (unseen.port == 0 ? "" : " port " + std::to_string(unseen.port)) +
         " (" + unseen.why.text() + ")";
}

void examine_unread(const tables::FabricSnapshot& snapshot, HealthChecks& checks) {
  std::vector<std::string> unread;
  for (const Port& port : snapshot.topology.ports())
    if (!snapshot.tables.contains(port.guid))
      unread.push_back(tables::described(snapshot.topology, port.guid));
  add(checks, Issue::unread, unread.size(),
      {"P_Key tables",
       "the tables of " + counted(unread.size(), "port") +
           " are not known, nor is whom these ports reach: " + some(unread) +
           seen_at(snapshot.discovery_began),
       "see the port's link and its node; where many are silent the M_Key may be another one than "
       "ibpod-sm's, or the window of questions too large for the fabric"});
}

}  // namespace

void check_switch_enforcement(const tables::FabricSnapshot& snapshot, const SmSettings& settings,
                              HealthChecks& checks) {
  Ports passes, unknown;
  for (const Port& port : snapshot.topology.ports()) {
    if (port.node == fabric::NodeType::switch_node) continue;
    const Leaf leaf = leaf_of(port);
    if (leaf == Leaf::enforces) continue;
    Ports& ports = leaf == Leaf::passes ? passes : unknown;
    ++ports.count;
    if (port.switch_port) ports.switches.insert(port.switch_port->switch_guid);
  }
  add(checks, Issue::not_enforced, passes.count,
      {"switches",
       counted(passes.count, "port") + " whose switch does not enforce partitions" +
           passes.text(snapshot.topology) + seen_at(snapshot.discovery_began) +
           ": only the adapter keeps pods there to theirs, and root on the node can send into any",
       settings.owner == SmOwner::ours
           ? "ibpod-sm has OpenSM switch it on, at its next heavy sweep: a switch that stays so "
             "has ports without a P_Key table, and cannot: give its hosts to one tenant only"
           : "set part_enforce both in the subnet manager's configuration, and restart it; a "
             "switch whose ports have no P_Key table cannot: give its hosts to one tenant only"});
  add(checks, Issue::enforcement_unknown, unknown.count,
      {"switches",
       counted(unknown.count, "port") +
           " of whose switch it is not known whether it enforces "
           "partitions" +
           unknown.text(snapshot.topology) + seen_at(snapshot.discovery_began) +
           ": count on the adapter only",
       "see why the switch does not answer; a port without a switch between it and its neighbour "
       "is kept by its adapter alone"});
}

void check_unread(const tables::FabricSnapshot& snapshot, HealthChecks& checks) {
  const fabric::Topology& topology = snapshot.topology;
  if (topology.ports().empty()) {
    add(checks, Issue::not_discovered, 1,
        {"subnet", "it has not been seen yet: nothing is known of its ports",
         "wait for the first look; if it does not come see ibpod-sm's log: it needs "
         "/dev/infiniband/"
         "umadN of an adapter whose link is up"});
  }
  std::vector<std::string> twice;
  for (const ib::Guid guid : topology.duplicates())
    twice.push_back(tables::described(topology, guid));
  add(checks, Issue::duplicate, twice.size(),
      {"GUIDs",
       counted(twice.size(), "GUID") + " met at two places: " + some(twice) +
           seen_at(snapshot.discovery_began) +
           ". Which of the two gets the keys is not known, and nothing counts as verified there",
       "give one of the two another GUID (ip link set PF vf N port_guid GUID, or the adapter's "
       "firmware), or take it off the fabric"});
  std::vector<std::string> unseen;
  for (const fabric::UnansweredQuery& one : topology.unanswered()) unseen.push_back(text(one));
  add(checks, Issue::unseen, topology.unanswered_count(),
      {"subnet",
       counted(topology.unanswered_count(), "question") +
           " without an answer: what is behind them has not been seen, and is not taken for "
           "absent: " +
           some(unseen, topology.unanswered_count()) + seen_at(snapshot.discovery_began),
       "ibnetdiscover shows whether others can see it; see the cable, the node, and whether its "
       "M_Key is another one"});
  add(checks, Issue::unseen, topology.is_truncated() ? 1 : 0,
      {"subnet",
       "it has more nodes, or longer paths, than a subnet can have, so that not all were visited: "
       "what was not is not taken for absent",
       "look for a node that answers as many (ibnetdiscover), and take it off the fabric"});
  examine_unread(snapshot, checks);
}

}  // namespace ibpod::sm::health_checks
