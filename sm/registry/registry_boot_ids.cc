// Which machine speaks for a node.
#include "sm/registry/state.h"
#include "sm/registry/registry.h"

namespace ibpod::sm {

// After a boot what it does not name is left alone until the machine that spoke for the node before
// is known to be this one: it has been silent. So it is while two machines are alive.
Result<Ledger::Speaker> Ledger::hear_machine(const fabricapi::SyncRequest& request, Now now) {
  Machine& machine = book_->nodes[request.node].machine;
  if (request.boot.empty()) return Speaker{};  // an older agent
  const Machine::Limits limits = machine_limits();
  switch (machine.hear(request.boot, now.steady, limits)) {
    case Machine::Heard::same:
      return Speaker{.ends_unnamed = !machine.is_doubled(now.steady, limits), .ask_again = {}};
    case Machine::Heard::another:
      return Speaker{.ends_unnamed = false, .ask_again = machine.rest(now.steady, limits)};
    case Machine::Heard::intruding:
      break;
  }
  return Error(Code::denied,
               "two machines use the name of node " + request.node +
                   ", and another one than this was first: give each a node name and a certificate "
                   "of its own. ibpod-sm accepts this one after the other has sent no Sync for " +
                   std::to_string(std::chrono::ceil<std::chrono::seconds>(limits.lease).count()) +
                   " s");
}

// Three Syncs come in a lease; one may be late.
Machine::Limits Ledger::machine_limits() const {
  return {.silence = policy_.lease * 2 / 3, .lease = policy_.lease};
}

std::vector<std::string> Ledger::doubled(Now now) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : book_->nodes)
    if (node.machine.is_doubled(now.steady, machine_limits())) names.push_back(name);
  return names;
}

}  // namespace ibpod::sm
