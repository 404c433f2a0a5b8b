// NodeFinding: something that the agent sees to be wrong with its node, for `ibpodctl doctor`.
#pragma once

#include <string>
#include <vector>

namespace ibpod::agent::health {

// A closed set. Each has at least one row in node_findings_test.cc: the fault planted, the finding
// named, its printed remedy applied, the finding gone.
enum class Issue {
  rdma_mode,        // the RDMA namespace mode is not the one that rdmaNetns wants
  preparation,      // a PF or VF is not as `pfs` wants it
  certificate,      // this node's certificate for a fabric cannot be used
  sm_service,       // a fabric's SM service does not answer
  wrong_subnet,     // a PF is on the subnet of no fabric
  unknown_guid,     // the SM service does not know a port for this node's
  quarantined,      // a device waits for the clean-up of an attachment
  address_release,  // IPAM has not taken back the addresses of an attachment that has ended
};
inline constexpr Issue kLastIssue = Issue::address_release;

struct Finding {
  std::string subject;  // rdma-netns-mode, 0000:3b:00.0
  std::string text;
  std::string remedy;
};

struct NodeFinding {
  Issue issue;
  Finding finding;
};
using NodeFindings = std::vector<NodeFinding>;

}  // namespace ibpod::agent::health
