// NodeRegistry: the nodes: the machine that has a node's name, the attachments that its agent
// reports, and the GUIDs of its VFs.
//
// Requests and time: see BindingRegistry.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/calls.h"
#include "sm/bindings/authz.h"
#include "sm/state/journal.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm::bindings {

// For a node or namespace that has to be there already: invalid if it is of a cluster that neither
// the configuration nor the state has. A cluster that is no longer configured may still have nodes.
Status check_known_cluster(const state::Journal& journal, const std::string& name);
// invalid if the node is of no cluster of the configuration; busy if the number of nodes is at its
// limit.
Status check_known_node(const state::Journal& journal, const std::string& node);

class NodeRegistry {
 public:
  // `journal` outlives it.
  explicit NodeRegistry(state::Journal& journal) : journal_(journal) {}

  // Renews the leases of the named attachments. Others are released when their lease ends, or now
  // if it has. denied for a second machine with the node's name. While it may be the known machine
  // after a reboot, attachments that are not named stay, and are not reported.
  Result<fabricapi::SyncAnswer> sync(const fabricapi::SyncRequest& request, state::Now now);
  // Assigns a GUID to each VF, or to none. A VF keeps its GUID until the node is forgotten.
  Result<std::vector<fabricapi::AllocatedGuid>> allocate(const fabricapi::AllocateRequest& request);
  // Records a call of the node's agent. Does nothing if the node is not known.
  void note_contact(const std::string& node, state::Now now);
  // Releases the node's bindings; after the last one, its GUIDs are free and the node is removed.
  // busy, unless forced, if the node has bindings or GUIDs and may be alive: its last call, or the
  // load of the state, is less than a lease ago.
  Result<v1::FabricNode> forget(const fabricapi::ForgetRequest& request, state::Now now);
  // Nodes whose name two machines use: both have called recently.
  std::vector<std::string> duplicates(state::Now now) const;

  // this_node: the port is bound by, assigned to or configured for the node.
  PortOwner owner_of(ib::Guid guid, const std::string& node) const;
  v1::ListNodesResponse list() const;
  std::optional<v1::FabricNode> find(const std::string& name) const;

 private:
  // For a Sync: if attachments that it does not name end, and when the agent must call again.
  struct BootIdResult {
    bool ends_missing = true;
    std::optional<std::chrono::steady_clock::duration> ask_again = {};
  };

  const state::Records& records() const { return journal_.records(); }
  const state::Policy& policy() const { return journal_.policy(); }
  Result<BootIdResult> note_boot_id(const fabricapi::SyncRequest& request, state::Now now);
  state::BootIdTracker::Limits boot_id_limits() const;
  Status check_silent(const std::string& name, const state::NodeRecord& node, state::Now now) const;
  Result<std::vector<fabricapi::AllocatedGuid>> assign_guid(
      const fabricapi::AllocateRequest& request);
  Result<ib::Guid> next_guid(const std::set<ib::Guid>& fresh) const;

  state::Journal& journal_;
};

}  // namespace ibpod::sm::bindings
