// The machine that a node's name belongs to.
#include "sm/registry/registry.h"
#include "sm/registry/state.h"

namespace ibpod::sm::registry {

// After a reboot, missing attachments do not end until the machine with the former boot ID has been
// silent long enough to be the same one. The same holds while two machines are alive.
Result<Registry::BootIdResult> Registry::note_boot_id(const fabricapi::SyncRequest& request,
                                                      Now now) {
  BootIdTracker& machine = state_->nodes[request.node].boot_ids;
  if (request.boot.empty()) return BootIdResult{};  // an older agent
  const BootIdTracker::Limits limits = boot_id_limits();
  switch (machine.note(request.boot, now.steady, limits)) {
    case BootIdTracker::Relation::same:
      return BootIdResult{.ends_missing = !machine.has_duplicate(now.steady, limits),
                          .ask_again = {}};
    case BootIdTracker::Relation::another:
      return BootIdResult{.ends_missing = false,
                          .ask_again = machine.silence_left(now.steady, limits)};
    case BootIdTracker::Relation::intruding:
      break;
  }
  return Error(
      Code::denied,
      "two machines use the name of node " + request.node +
          ", and the other one was first; give each machine its own node name and "
          "certificate. ibpod-sm accepts this machine when the other has sent no Sync for " +
          std::to_string(std::chrono::ceil<std::chrono::seconds>(limits.lease).count()) + " s");
}

// Three Syncs come in a lease; one may be late.
BootIdTracker::Limits Registry::boot_id_limits() const {
  return {.silence = policy_.lease * 2 / 3, .lease = policy_.lease};
}

std::vector<std::string> Registry::duplicate_nodes(Now now) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : state_->nodes)
    if (node.boot_ids.has_duplicate(now.steady, boot_id_limits())) names.push_back(name);
  return names;
}

}  // namespace ibpod::sm::registry
