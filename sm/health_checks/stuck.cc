#include "sm/health_checks/checks.h"

namespace ibpod::sm {
namespace {

std::string list(const Evidence& evidence, const Stuck& one) {
  std::vector<std::string> ports;
  for (const ib::Guid port : one.ports) ports.push_back(described(evidence.topology, port));
  return some(ports);
}

// Which of them are there cannot be said here: the commands do.
constexpr const char* kBringBack =
    "bring the ports up, so that they are seen without the key (`ibpodctl explain GUID` says what "
    "is known of one). If they are gone for good: ";

fabricapi::Finding finding(const Evidence& evidence, const Stuck& one) {
  if (one.what == Stuck::What::partition)
    return {"partition " + one.name,
            "it is being deleted, and " + counted(one.ports.size(), "port") +
                " that may hold its P_Key could not be asked for minutes: " + list(evidence, one),
            kBringBack + ("`ibpodctl partition delete " + one.name + " --forget-ports`") +
                ". A port that comes back with the key all the same reaches ports of the next "
                "partition with this P_Key, until ibpod-sm sees it and takes the key away "
                "(look.scanSeconds)"};
  if (one.what == Stuck::What::vports)
    return {"node " + one.name,
            counted(one.ports.size(), "binding") +
                " that are released wait for virtual ports, whose P_Key tables this subnet manager "
                "does not show while their adapter is on the subnet: " +
                list(evidence, one),
            "take the node out of use, run `ibpodctl node forget " + one.name +
                " --force`, and take the adapter's port off the subnet (its cable, or power) until "
                "`ibpodctl node list` no longer has the node"};
  return {"node " + one.name,
          counted(one.ports.size(), "binding") +
              " that are released wait for ports that could not be asked for minutes: " +
              list(evidence, one),
          kBringBack +
              ("take the node out of use, and `ibpodctl node forget " + one.name + " --force`")};
}

}  // namespace

void examine_stuck(const Evidence& evidence, const std::vector<Stuck>& stuck, Posture& posture) {
  for (const Stuck& one : stuck)
    add(posture, Weakness::waiting, one.ports.size(), finding(evidence, one));
}

void examine_doubled(const std::vector<std::string>& nodes, Posture& posture) {
  for (const std::string& node : nodes)
    add(posture, Weakness::duplicate_node, 1,
        {"node " + node,
         "two machines use this node name, as with a cloned image, or with another cluster on this "
         "subnet. The one that came second is refused: its bindings are not renewed and end with "
         "their leases, and its VFs become unhealthy. VFs of both may have the same GUIDs",
         "give each machine a node name and a certificate of its own; `ibpodctl doctor` on the one "
         "that is refused says so, as its finding sm-service"});
}

void examine_declared(const DeclaredFaults& faults, Posture& posture) {
  add(posture, Weakness::declared, faults.texts.size(),
      {"declared partitions",
       counted(faults.texts.size(), "fault") + " of their file: " + some(faults.texts) +
           ". What it said before of these stays",
       "correct the file that declaredPartitions names; ibpod-sm follows it, and "
       "`ibpodctl partition get NAME` says of each partition whether it is done"});
}

}  // namespace ibpod::sm
