#include "ctl/print_bindings.h"
#include "ctl/session.h"

namespace ibpod::ctl {
namespace {

Result<Answer> list(const Session& session) {
  const auto service = TRY(session.service());
  const auto nodes = TRY(service->list_nodes(session.deadline()));
  return session.answer(as_json(nodes), [&] { return as_table(nodes); });
}

std::string outcome(const v1::FabricNode& node) {
  if (node.bindings() == 0)
    return "node " + node.name() + " is forgotten, and its GUIDs are free\n";
  return "node " + node.name() + " is being forgotten: " + std::to_string(node.bindings()) +
         " of its bindings are not released yet\n";
}

Result<Answer> forget(const Session& session, const fabricapi::ForgetRequest& request) {
  const auto service = TRY(session.service());
  const auto node = TRY(service->forget_node(request, session.deadline()));
  const int exit = node.bindings() == 0 ? 0 : kNotYet;
  return session.answer(
      as_json(node), [&] { return outcome(node); }, exit);
}

}  // namespace

Command node_command(Session& session) {
  const auto request = std::make_shared<fabricapi::ForgetRequest>();
  return {
      .name = "node",
      .help = "nodes known to the SM service",
      .commands = {
          {.name = "list", .help = "list all nodes", .run = [&session] { return list(session); }},
          {.name = "forget",
           .help = "forget a node that does not come back: release all its bindings and free its "
                   "GUIDs. Its devices must be out of use. Refused while the node may be alive "
                   "(until its lease has expired). Exit code 1: not all bindings are released yet",
           .options =
               {{"NODE", &request->node, "name of the node"},
                {"--force", &request->force,
                 "forget it even if it may be alive: its running pods lose their partitions, "
                 "and other nodes get its GUIDs while its VFs still have them"}},
           .run = [&session, request] { return forget(session, *request); }}}};
}

}  // namespace ibpod::ctl
