#include "sm/diagnose/checks.h"

#include <algorithm>
#include <set>

namespace ibpod::sm::diagnose {
namespace {

using fabric::Port;

enum class SwitchEnforcement { enforces, passes, unknown };

SwitchEnforcement enforcement_of(const Port& port) {
  if (!port.switch_port || !port.switch_port->enforcement) return SwitchEnforcement::unknown;
  return port.switch_port->enforcement->strict() ? SwitchEnforcement::enforces
                                                 : SwitchEnforcement::passes;
}

struct Ports {
  size_t count = 0;
  std::set<ib::Guid> switches = {};
  std::string text(const fabric::Topology& topology) const {
    std::vector<std::string> names;
    for (const ib::Guid guid : switches) names.push_back(described(topology, guid));
    return names.empty() ? ""
                         : " (" + std::string(names.size() == 1 ? "switch " : "switches ") +
                               some(names) + ")";
  }
};

std::string text(const fabric::UnansweredQuery& unseen) {
  return unseen.path.text() + (unseen.port == 0 ? "" : " port " + std::to_string(unseen.port)) +
         " (" + unseen.why.text() + ")";
}

void check_unread_tables(const FabricSnapshot& snapshot, HealthChecks& checks) {
  std::vector<std::string> unread;
  for (const Port& port : snapshot.topology.ports())
    if (!snapshot.tables.contains(port.guid))
      unread.push_back(described(snapshot.topology, port.guid));
  add(checks, Issue::unread, unread.size(),
      {"P_Key tables",
       "the tables of " + counted(unread.size(), "port") +
           " are unknown, and so is which ports these reach: " + some(unread) +
           seen_at(snapshot.discovery_began),
       "check each port's link and node; if many ports do not answer, they may have another M_Key "
       "than ibpod-sm's, or look.window is too large for the fabric"});
}

}  // namespace

void check_switch_enforcement(const FabricSnapshot& snapshot, const SmSettings& settings,
                              HealthChecks& checks) {
  Ports passes, unknown;
  for (const Port& port : snapshot.topology.ports()) {
    if (port.node == mad::NodeType::switch_node) continue;
    const SwitchEnforcement enforcement = enforcement_of(port);
    if (enforcement == SwitchEnforcement::enforces) continue;
    Ports& ports = enforcement == SwitchEnforcement::passes ? passes : unknown;
    ++ports.count;
    if (port.switch_port) ports.switches.insert(port.switch_port->switch_guid);
  }
  add(checks, Issue::not_enforced, passes.count,
      {"switches",
       counted(passes.count, "port") + " on a switch that does not enforce partitions" +
           passes.text(snapshot.topology) + seen_at(snapshot.discovery_began) +
           ": only the adapter keeps pods there in their partitions, and root on the node can send "
           "into any partition",
       std::string(words_of(settings.owner).enforcement)});
  add(checks, Issue::enforcement_unknown, unknown.count,
      {"switches",
       counted(unknown.count, "port") +
           " on a switch that may not enforce partitions (its settings are unknown)" +
           unknown.text(snapshot.topology) + seen_at(snapshot.discovery_began) +
           ": rely only on the adapter",
       "find out why the switch does not answer; if a port is connected to its neighbor without a "
       "switch, only its adapter enforces partitions"});
}

void check_unread(const FabricSnapshot& snapshot, HealthChecks& checks) {
  const fabric::Topology& topology = snapshot.topology;
  if (topology.ports().empty()) {
    add(checks, Issue::not_discovered, 1,
        {"subnet", "it has not been scanned yet: nothing is known of its ports",
         "wait for the first scan; if it does not come, check ibpod-sm's log: ibpod-sm needs "
         "/dev/infiniband/umadN of an adapter whose link is up"});
  }
  std::vector<std::string> twice;
  for (const ib::Guid guid : topology.duplicates()) twice.push_back(described(topology, guid));
  add(checks, Issue::duplicate, twice.size(),
      {"GUIDs",
       counted(twice.size(), "GUID") + " found at two ports: " + some(twice) +
           seen_at(snapshot.discovery_began) +
           ". It is not known which of the two ports gets the keys, so no binding there counts as "
           "verified",
       "give one of the two ports another GUID (ip link set PF vf N port_guid GUID, or the "
       "adapter's firmware), or remove it from the fabric"});
  std::vector<std::string> unseen;
  for (const fabric::UnansweredQuery& one : topology.unanswered()) unseen.push_back(text(one));
  add(checks, Issue::unseen, topology.unanswered_count(),
      {"subnet",
       counted(topology.unanswered_count(), "request") +
           " without an answer: ports beyond them were not scanned and are not treated as "
           "absent: " +
           some(unseen, topology.unanswered_count()) + seen_at(snapshot.discovery_began),
       "run ibnetdiscover to see whether other hosts reach it; check the cable, the node, and "
       "whether it has another M_Key"});
  add(checks, Issue::unseen, topology.is_truncated() ? 1 : 0,
      {"subnet",
       "it has more nodes, or longer paths, than a subnet can have, so the scan was incomplete: "
       "ports that it did not reach are not treated as absent",
       "find the node that answers as many nodes (ibnetdiscover) and remove it from the fabric"});
  check_unread_tables(snapshot, checks);
}

}  // namespace ibpod::sm::diagnose
