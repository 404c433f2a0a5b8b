#include "sm/health_checks/checks.h"

namespace ibpod::sm::health_checks {
namespace {

std::string list(const tables::FabricSnapshot& snapshot, const StuckDeletion& one) {
  std::vector<std::string> ports;
  for (const ib::Guid port : one.ports) ports.push_back(tables::described(snapshot.topology, port));
  return some(ports);
}

// Which of them are there cannot be said here: the commands do.
constexpr const char* kBringBack =
    "bring the ports up, so that they are seen without the key (`ibpodctl explain GUID` says what "
    "is known of one). If they are gone for good: ";

fabricapi::Finding finding(const tables::FabricSnapshot& snapshot, const StuckDeletion& one) {
  if (one.kind == StuckDeletion::Kind::partition)
    return {"partition " + one.name,
            "it is being deleted, and " + counted(one.ports.size(), "port") +
                " that may hold its P_Key could not be asked for minutes: " + list(snapshot, one),
            kBringBack + ("`ibpodctl partition delete " + one.name + " --forget-ports`") +
                ". A port that comes back with the key all the same reaches ports of the next "
                "partition with this P_Key, until ibpod-sm sees it and takes the key away "
                "(look.scanSeconds)"};
  if (one.kind == StuckDeletion::Kind::vports)
    return {"node " + one.name,
            counted(one.ports.size(), "binding") +
                " that are released wait for virtual ports, whose P_Key tables this subnet manager "
                "does not show while their adapter is on the subnet: " +
                list(snapshot, one),
            "take the node out of use, run `ibpodctl node forget " + one.name +
                " --force`, and take the adapter's port off the subnet (its cable, or power) until "
                "`ibpodctl node list` no longer has the node"};
  return {"node " + one.name,
          counted(one.ports.size(), "binding") +
              " that are released wait for ports that could not be asked for minutes: " +
              list(snapshot, one),
          kBringBack +
              ("take the node out of use, and `ibpodctl node forget " + one.name + " --force`")};
}

}  // namespace

void check_stuck(const tables::FabricSnapshot& snapshot, const std::vector<StuckDeletion>& stuck,
                 HealthChecks& checks) {
  for (const StuckDeletion& one : stuck)
    add(checks, Issue::waiting, one.ports.size(), finding(snapshot, one));
}

void check_duplicate_nodes(const std::vector<std::string>& nodes, HealthChecks& checks) {
  for (const std::string& node : nodes)
    add(checks, Issue::duplicate_node, 1,
        {"node " + node,
         "two machines use this node name, as with a cloned image, or with another cluster on this "
         "subnet. The one that came second is refused: its bindings are not renewed and end with "
         "their leases, and its VFs become unhealthy. VFs of both may have the same GUIDs",
         "give each machine a node name and a certificate of its own; `ibpodctl doctor` on the one "
         "that is refused says so, as its finding sm-service"});
}

void check_declared_file(const DeclaredFileFaults& faults, HealthChecks& checks) {
  add(checks, Issue::declared, faults.texts.size(),
      {"declared partitions",
       counted(faults.texts.size(), "fault") + " of their file: " + some(faults.texts) +
           ". What it said before of these stays",
       "correct the file that declaredPartitions names; ibpod-sm follows it, and "
       "`ibpodctl partition get NAME` says of each partition whether it is done"});
}

}  // namespace ibpod::sm::health_checks
