#include "sm/health_checks/checks.h"

#include <algorithm>
#include <set>

namespace ibpod::sm {
namespace {

using fabric::SeenPort;

enum class Leaf { enforces, passes, unknown };

Leaf leaf_of(const SeenPort& port) {
  if (!port.leaf || !port.leaf->enforcement) return Leaf::unknown;
  return port.leaf->enforcement->strict() ? Leaf::enforces : Leaf::passes;
}

struct Ports {
  size_t count = 0;
  std::set<ib::Guid> switches = {};
  std::string text(const fabric::Topology& topology) const {
    std::vector<std::string> names;
    for (const ib::Guid guid : switches) names.push_back(described(topology, guid));
    return names.empty() ? ""
                         : " (of the " + std::string(names.size() == 1 ? "switch " : "switches ") +
                               some(names) + ")";
  }
};

std::string text(const fabric::Unseen& unseen) {
  return unseen.path.text() + (unseen.port == 0 ? "" : " port " + std::to_string(unseen.port)) +
         " (" + unseen.why.text() + ")";
}

void examine_unread(const Evidence& evidence, Posture& posture) {
  std::vector<std::string> unread;
  for (const SeenPort& port : evidence.topology.ports())
    if (!evidence.tables.contains(port.guid))
      unread.push_back(described(evidence.topology, port.guid));
  add(posture, Weakness::unread, unread.size(),
      {"P_Key tables",
       "the tables of " + counted(unread.size(), "port") +
           " are not known, nor is whom these ports reach: " + some(unread) +
           seen_at(evidence.looked),
       "see the port's link and its node; where many are silent the M_Key may be another one than "
       "ibpod-sm's, or the window of questions too large for the fabric"});
}

}  // namespace

void examine_leaves(const Evidence& evidence, const SmSettings& settings, Posture& posture) {
  Ports passes, unknown;
  for (const SeenPort& port : evidence.topology.ports()) {
    if (port.node == fabric::NodeType::switch_node) continue;
    const Leaf leaf = leaf_of(port);
    if (leaf == Leaf::enforces) continue;
    Ports& ports = leaf == Leaf::passes ? passes : unknown;
    ++ports.count;
    if (port.leaf) ports.switches.insert(port.leaf->switch_guid);
  }
  add(posture, Weakness::not_enforced, passes.count,
      {"switches",
       counted(passes.count, "port") + " whose switch does not enforce partitions" +
           passes.text(evidence.topology) + seen_at(evidence.looked) +
           ": only the adapter keeps pods there to theirs, and root on the node can send into any",
       settings.owner == SmOwner::ours
           ? "ibpod-sm has OpenSM switch it on, at its next heavy sweep: a switch that stays so "
             "has ports without a P_Key table, and cannot: give its hosts to one tenant only"
           : "set part_enforce both in the subnet manager's configuration, and restart it; a "
             "switch whose ports have no P_Key table cannot: give its hosts to one tenant only"});
  add(posture, Weakness::enforcement_unknown, unknown.count,
      {"switches",
       counted(unknown.count, "port") +
           " of whose switch it is not known whether it enforces "
           "partitions" +
           unknown.text(evidence.topology) + seen_at(evidence.looked) +
           ": count on the adapter only",
       "see why the switch does not answer; a port without a switch between it and its neighbour "
       "is kept by its adapter alone"});
}

void examine_sight(const Evidence& evidence, Posture& posture) {
  const fabric::Topology& topology = evidence.topology;
  if (topology.ports().empty()) {
    add(posture, Weakness::not_looked, 1,
        {"subnet", "it has not been seen yet: nothing is known of its ports",
         "wait for the first look; if it does not come see ibpod-sm's log: it needs "
         "/dev/infiniband/"
         "umadN of an adapter whose link is up"});
  }
  std::vector<std::string> twice;
  for (const ib::Guid guid : topology.duplicates()) twice.push_back(described(topology, guid));
  add(posture, Weakness::duplicate, twice.size(),
      {"GUIDs",
       counted(twice.size(), "GUID") + " met at two places: " + some(twice) +
           seen_at(evidence.looked) +
           ". Which of the two gets the keys is not known, and nothing counts as verified there",
       "give one of the two another GUID (ip link set PF vf N port_guid GUID, or the adapter's "
       "firmware), or take it off the fabric"});
  std::vector<std::string> unseen;
  for (const fabric::Unseen& one : topology.unseen()) unseen.push_back(text(one));
  add(posture, Weakness::unseen, topology.unseen_count(),
      {"subnet",
       counted(topology.unseen_count(), "question") +
           " without an answer: what is behind them has not been seen, and is not taken for "
           "absent: " +
           some(unseen, topology.unseen_count()) + seen_at(evidence.looked),
       "ibnetdiscover shows whether others can see it; see the cable, the node, and whether its "
       "M_Key is another one"});
  add(posture, Weakness::unseen, topology.cut_off() ? 1 : 0,
      {"subnet",
       "it has more nodes, or longer paths, than a subnet can have, so that not all were visited: "
       "what was not is not taken for absent",
       "look for a node that answers as many (ibnetdiscover), and take it off the fabric"});
  examine_unread(evidence, posture);
}

}  // namespace ibpod::sm
