#include "sm/diagnose/checks.h"

namespace ibpod::sm::diagnose {
namespace {

std::string list(const FabricSnapshot& snapshot, const StuckDeletion& one) {
  std::vector<std::string> ports;
  for (const ib::Guid port : one.ports) ports.push_back(described(snapshot.topology, port));
  return some(ports);
}

// ibpod-sm does not know which of the ports still exist; the commands show it.
constexpr const char* kBringBack =
    "bring the ports up, so that ibpod-sm sees them without the key (`ibpodctl explain GUID` shows "
    "what is known about a port). If they are gone for good: ";

Finding finding(const FabricSnapshot& snapshot, const StuckDeletion& one) {
  if (one.kind == StuckDeletion::Kind::partition)
    return {
        "partition " + one.name,
        "its deletion waits for " + counted(one.ports.size(), "port") +
            " that may hold its P_Key and have not answered for minutes: " + list(snapshot, one),
        kBringBack + ("run `ibpodctl partition delete " + one.name + " --forget-ports`") +
            ". If a port comes back with the key after that, it reaches ports of the next "
            "partition with this P_Key until ibpod-sm's next full scan removes the key "
            "(look.scanSeconds)"};
  if (one.kind == StuckDeletion::Kind::vports)
    return {"node " + one.name,
            counted(one.ports.size(), "released binding") +
                " cannot end: the ports are virtual ports, whose P_Key tables this subnet manager "
                "does not show while their adapter is on the subnet: " +
                list(snapshot, one),
            "drain the node, run `ibpodctl node forget " + one.name +
                " --force`, and take the adapter's port off the subnet (pull its cable or power it "
                "off) until `ibpodctl node list` no longer shows the node"};
  return {"node " + one.name,
          counted(one.ports.size(), "released binding") +
              " cannot end: the ports have not answered for minutes: " + list(snapshot, one),
          kBringBack + ("drain the node and run `ibpodctl node forget " + one.name + " --force`")};
}

}  // namespace

void check_stuck(const FabricSnapshot& snapshot, const std::vector<StuckDeletion>& stuck,
                 HealthChecks& checks) {
  for (const StuckDeletion& one : stuck)
    add(checks, Issue::waiting, one.ports.size(), finding(snapshot, one));
}

void check_duplicate_nodes(const std::vector<std::string>& nodes, HealthChecks& checks) {
  for (const std::string& node : nodes)
    add(checks, Issue::duplicate_node, 1,
        {"node " + node,
         "two machines use this node name, for example after an image was cloned, or because "
         "another cluster is on this subnet. ibpod-sm refuses the machine that called second: its "
         "bindings are not renewed and end with their leases, and its VFs become unhealthy. VFs of "
         "both machines may have the same GUIDs",
         "give each machine a node name and a certificate of its own; on the refused machine "
         "`ibpodctl doctor` shows the finding sm-service"});
}

void check_declared_file(const DeclaredFileFaults& faults, HealthChecks& checks) {
  add(checks, Issue::declared, faults.texts.size(),
      {"declared partitions",
       counted(faults.texts.size(), "error") + " in the file: " + some(faults.texts) +
           ". The previous version of these entries stays in force",
       "correct the file that declaredPartitions names; ibpod-sm reads it again by itself, and "
       "`ibpodctl partition get NAME` shows the result for each partition"});
}

}  // namespace ibpod::sm::diagnose
