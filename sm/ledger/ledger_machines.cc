// Which machine speaks for a node.
#include "sm/ledger/book.h"
#include "sm/ledger/ledger.h"

namespace ibpod::sm {

// Whether what it does not name is to end. After a boot that waits until the machine that spoke for
// the node before is known to be this one: it has been silent.
Result<bool> Ledger::hear_machine(const fabricapi::SyncRequest& request, Now now) {
  NodeEntry& node = book_->nodes[request.node];
  if (request.boot.empty()) return true;  // an older agent
  const std::string before = node.machine.boot();
  const Machine::Heard heard = node.machine.hear(request.boot, now.steady, silence());
  if (node.machine.boot() != before) stage(Kind::node, request.node);
  if (heard != Machine::Heard::intruding) return heard == Machine::Heard::same;
  return Error(Code::denied,
               "two machines call themselves node " + request.node +
                   ", and another one than this was first: give each a node name and a certificate "
                   "of its own. ibpod-sm heeds this one when the other has been silent for " +
                   std::to_string(std::chrono::ceil<std::chrono::seconds>(silence()).count()) +
                   " s");
}

// Three Syncs come in a lease.
std::chrono::steady_clock::duration Ledger::silence() const { return policy_.lease / 2; }

std::vector<std::string> Ledger::doubled(Now now) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : book_->nodes)
    if (node.machine.is_doubled(now.steady, silence())) names.push_back(name);
  return names;
}

}  // namespace ibpod::sm
