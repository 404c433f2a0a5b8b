#include "ctl/print_bindings.h"
#include "ctl/session.h"

namespace ibpod::ctl {
namespace {

Result<Answer> list(const Session& session) {
  const auto service = TRY(session.service());
  const auto nodes = TRY(service->list_nodes(session.deadline()));
  return session.answer(as_json(nodes), [&] { return as_table(nodes); });
}

std::string outcome(const fabricapi::Node& node) {
  if (node.bindings == 0) return "node " + node.name + " is forgotten, and its GUIDs are free\n";
  return "node " + node.name + " is being forgotten: " + std::to_string(node.bindings) +
         " of its bindings are not released yet\n";
}

Result<Answer> forget(const Session& session, const fabricapi::ForgetRequest& request) {
  const auto service = TRY(session.service());
  const auto node = TRY(service->forget_node(request, session.deadline()));
  const int exit = node.bindings == 0 ? 0 : kNotYet;
  return session.answer(
      as_json(node), [&] { return outcome(node); }, exit);
}

}  // namespace

Command node_command(Session& session) {
  const auto request = std::make_shared<fabricapi::ForgetRequest>();
  return {.name = "node",
          .help = "nodes that the SM service knows",
          .commands = {
              {.name = "list", .help = "all of them", .run = [&session] { return list(session); }},
              {.name = "forget",
               .help = "one that does not come back: releases all that it has, and frees "
                       "its GUIDs. Its devices have to be out of use. Refused while the node may "
                       "be alive: until it has not been heard of for a lease. Exit 1: not all is "
                       "released yet",
               .options = {{"NODE", &request->node, "its name"},
                           {"--force", &request->force,
                            "although it may be alive: its pods lose their partitions while they "
                            "run, and its GUIDs are given to others while its VFs have them"}},
               .run = [&session, request] { return forget(session, *request); }}}};
}

}  // namespace ibpod::ctl
